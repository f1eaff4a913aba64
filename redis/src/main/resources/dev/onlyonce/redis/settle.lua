-- For each id: member, token, state, whether there is a result, result, reason.
local time = now()
local answers = { time }
for i = 2, #ARGV, 6 do
  local member, token, to, has, result, why = unpack(ARGV, i, i + 5)
  local e = live(ENTRY .. member, time)
  to = tonumber(to)
  if not e or e.token ~= token or (e.state ~= PROCESSING and e.state ~= to) then
    answers[#answers + 1] = lost(e, time)
  else
    if e.state == PROCESSING then
      settle(member, e, to, has == '1' and result or nil, time)
      record(member, e, PROCESSING, to, e.owner, why, time)
    end
    answers[#answers + 1] = settled(e)
  end
end
return answers
