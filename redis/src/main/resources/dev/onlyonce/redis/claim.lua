-- For each entry: token, fingerprint, operation, owner, terms, start, target (empty: none). Answers the attempt if it is the caller's,
-- else the entry.
return answer(7, function(key, base, member, at)
  local token, print, operation, owner, terms, start, target = unpack(ARGV, at, at + 6)
  start = tonumber(start)
  local e = read(key)
  local from = e and e.state or 0
  if e and gone(e) then
    record(base, member, e, from, 0, owner, 'its retention is over')
    call('ZREM', base .. 'expiries', member)
    e, from = nil, 0
  end
  if e and from == start and e.token == token then
    e.lease = time + e.leasems * 1000
    call('ZADD', base .. 'leases', e.lease, member)
    write(key, e)
    return e.attempt
  end
  if e and not (start == PROCESSING and (from == PENDING or from == RETRYABLE) and e.operation == operation and e.print == print) then
    return e.raw
  end
  local isNew = not e
  e = e or { attempt = 0, created = time, print = print, operation = operation, target = target ~= '' and target or nil }
  e.state, e.token, e.owner, e.settled, e.expires = start, token, owner, 0, 0
  e.attempt = e.attempt + (start == PROCESSING and 1 or 0)
  local _
  e.onlost, e.leasems, e.retentionms, e.tombstonems, _ = unpacked('>Bddd', terms)
  e.lease = time + e.leasems * 1000
  call('ZADD', base .. 'leases', e.lease, member)
  if from == RETRYABLE then
    call('ZREM', base .. 'expiries', member)
  end
  record(base, member, e, from, start, owner, start == PENDING and 'accepted' or 'claimed')
  if isNew then
    call('ZADD', base .. 'ids', 0, member)
  end
  write(key, e)
  return e.attempt
end)
