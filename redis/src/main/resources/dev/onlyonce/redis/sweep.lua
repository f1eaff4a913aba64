-- For each entry whose lease may have lapsed, and an unused argument. Answers operation, state before, state after and attempt; nothing
-- if it was not swept.
return answer(1, function(key, base, member)
  local raw = read(key)
  local from = raw and byte(raw, 2)
  if from ~= PENDING and from ~= PROCESSING then
    call('ZREM', base .. 'leases', member)
    return {}
  end
  local lease = number(raw, LEASE)
  if lease > time then
    call('ZADD', base .. 'leases', lease, member)
    return {}
  end
  local to = UNKNOWN
  if from == PENDING then
    to = FAILED
  elseif byte(raw, TERMS) ~= 1 then
    to = RETRYABLE
  end
  local why = from == PENDING and 'nobody took it in time' or 'the lease ran out'
  settle(key, base, member, raw, to, nil, nil, names(raw, 'sweeper'), why)
  return { operation(raw), from, to, attempt(raw) }
end)
