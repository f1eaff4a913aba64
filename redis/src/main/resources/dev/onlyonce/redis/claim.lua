-- For each id: member, token, fingerprint, operation, owner, terms, start, target (empty: none). Answers the attempt if it is the caller's, else the entry.
local time = now()
local answers = { time }
for i = 2, #ARGV, 8 do
  local member, token, print, operation, owner, terms, start, target = unpack(ARGV, i, i + 7)
  local key = ENTRY .. member
  start = tonumber(start)
  local function take(e)
    e.state, e.token, e.owner, e.settled, e.expires = start, token, owner, 0, 0
    e.attempt = e.attempt + (start == PROCESSING and 1 or 0)
    e.onlost, e.leasems, e.retentionms, e.tombstonems = struct.unpack('>Bddd', terms)
    e.lease = time + e.leasems * 1000
    write(key, e, time)
    redis.call('ZADD', LEASES, e.lease, member)
  end
  local e = read(key)
  if e and gone(e, time) then
    record(member, e, e.state, 0, owner, 'its retention is over', time)
    redis.call('ZREM', EXPIRIES, member)
    e = nil
  end
  if not e then
    e = { attempt = 0, created = time, print = print, operation = operation, target = target ~= '' and target or nil }
    take(e)
    redis.call('ZADD', IDS, 0, member)
    record(member, e, 0, start, owner, start == PENDING and 'accepted' or 'claimed', time)
    answers[#answers + 1] = e.attempt
  elseif e.state == start and e.token == token then
    e.lease = time + e.leasems * 1000
    write(key, e, time)
    redis.call('ZADD', LEASES, e.lease, member)
    answers[#answers + 1] = e.attempt
  elseif start == PROCESSING and (e.state == PENDING or e.state == RETRYABLE) and e.operation == operation and e.print == print then
    local from = e.state
    take(e)
    redis.call('ZREM', EXPIRIES, member)
    record(member, e, from, start, owner, 'claimed', time)
    answers[#answers + 1] = e.attempt
  else
    answers[#answers + 1] = e.raw
  end
end
return answers
