-- For each entry: who, reason with its length. Answers operation, state and attempt of the entry that was deleted; nothing if there was
-- none to delete.
return answer(2, function(i, key, raw, at)
  local state = raw and byte(raw, 2)
  if not raw or gone(raw) or state == PENDING or state == PROCESSING or state == UNKNOWN then
    return {}
  end
  local partition, member = place(key)
  remove(partition, 'expiries', member)
  remove(partition, 'ids', member)
  record_own(partition, member, raw)
  record(partition, member, raw, state, 0, sub(raw, 4, 7), time_bytes, names(raw, ARGV[at]), ARGV[at + 1])
  write(i, partition, key, false)
  return { operation(raw), shown(raw), attempt(raw) }
end, beginnings)
