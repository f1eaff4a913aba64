-- For each entry whose lease may have lapsed: '1' to shorten a lease that is too long and end none. Answers operation, state before, state
-- after and attempt; nothing if it was not swept.
return answer(1, function(i, key, raw, at)
  local partition, member = place(key)
  local from = raw and byte(raw, 2)
  if from ~= PENDING and from ~= PROCESSING then
    remove(partition, 'leases', member)
    return {}
  end
  local lease = number(raw, LEASE)
  if lease > time then
    local longest = time + number(raw, LEASE_MS) * 1000
    if lease > longest then
      -- The clock went ahead and came back.
      lease = longest
      write(i, partition, key, leased(raw, lease))
    end
    add(partition, 'leases', score(lease), member)
    return {}
  end
  if ARGV[at] == '1' then
    return {}
  end
  local to = UNKNOWN
  if from == PENDING then
    to = FAILED
  elseif byte(raw, TERMS) ~= 1 then
    to = RETRYABLE
  end
  local why = from == PENDING and 'nobody took it in time' or 'the lease ran out'
  settle(i, key, raw, to, nil, nil, names(raw, 'sweeper'), text(why))
  return { operation(raw), from, to, attempt(raw) }
end, beginnings)
