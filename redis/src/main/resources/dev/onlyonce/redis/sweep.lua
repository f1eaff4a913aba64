-- How many at most. Answers member, operation, state before, state after and attempt of each entry that was swept.
local time = now()
local answers = { time }
for _, member in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', time, 'LIMIT', 0, ARGV[2])) do
  local e = read(ENTRY .. member)
  if not e or (e.state ~= PENDING and e.state ~= PROCESSING) then
    redis.call('ZREM', LEASES, member)
  elseif e.lease > time then
    redis.call('ZADD', LEASES, e.lease, member)
  else
    local from = e.state
    local to = UNKNOWN
    if from == PENDING then
      to = FAILED
    elseif e.onlost ~= 1 then
      to = RETRYABLE
    end
    e.token = nil
    settle(member, e, to, nil, time)
    record(member, e, from, to, 'sweeper', from == PENDING and 'nobody took it in time' or 'the lease ran out', time)
    answers[#answers + 1] = { member, e.operation, from, to, e.attempt }
  end
end
return answers
