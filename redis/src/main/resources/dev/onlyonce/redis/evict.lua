-- For each entry: who, reason. Answers operation, state and attempt of the entry that was deleted; nothing if there was none to delete.
return answer(2, function(key, base, member, at)
  local who, why = unpack(ARGV, at, at + 1)
  local e = live(key)
  if not e or e.state == PENDING or e.state == PROCESSING or e.state == UNKNOWN then
    return {}
  end
  call('ZREM', base .. 'expiries', member)
  call('ZREM', base .. 'ids', member)
  record(base, member, e, e.state, 0, who, why)
  call('DEL', key)
  return { e.operation, shown(e), e.attempt }
end)
