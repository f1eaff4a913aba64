-- For each id: member, token, lease in ms. Answers 1 if the lease was renewed, else 0.
local time = now()
local answers = { time }
for i = 2, #ARGV, 3 do
  local member, token, lease = unpack(ARGV, i, i + 2)
  local e = read(ENTRY .. member)
  if e and e.state == PROCESSING and e.token == token then
    e.lease = time + lease * 1000
    write(ENTRY .. member, e, time)
    redis.call('ZADD', LEASES, e.lease, member)
    answers[#answers + 1] = 1
  else
    answers[#answers + 1] = 0
  end
end
return answers
