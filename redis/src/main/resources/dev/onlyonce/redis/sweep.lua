-- For each entry whose lease may have lapsed, and an unused argument. Answers operation, state before, state after and attempt; nothing
-- if it was not swept.
return answer(1, function(key, base, member)
  local e = read(key)
  if not e or (e.state ~= PENDING and e.state ~= PROCESSING) then
    call('ZREM', base .. 'leases', member)
    return {}
  end
  if e.lease > time then
    call('ZADD', base .. 'leases', e.lease, member)
    return {}
  end
  local from = e.state
  local to = UNKNOWN
  if from == PENDING then
    to = FAILED
  elseif e.onlost ~= 1 then
    to = RETRYABLE
  end
  e.token = nil
  settle(key, base, member, e, to, nil, 'sweeper', from == PENDING and 'nobody took it in time' or 'the lease ran out')
  return { e.operation, from, to, e.attempt }
end)
