-- For each entry: who, reason. Answers operation, state and attempt of the entry that was deleted; nothing if there was none to delete.
return answer(2, function(key, base, member, at)
  local raw = live(key)
  local state = raw and byte(raw, 2)
  if not raw or state == PENDING or state == PROCESSING or state == UNKNOWN then
    return {}
  end
  call('ZREM', base .. 'expiries', member)
  call('ZREM', base .. 'ids', member)
  record(base, member, state, 0, sub(raw, 4, 7), names(raw, ARGV[at]), ARGV[at + 1])
  call('DEL', key)
  return { operation(raw), shown(raw), attempt(raw) }
end)
