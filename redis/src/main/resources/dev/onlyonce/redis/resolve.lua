-- For each id: member, created (empty for any), attempt, state, whether there is a result, result, who, reason.
local time = now()
local answers = { time }
for i = 2, #ARGV, 8 do
  local member, created, attempt, to, has, result, who, why = unpack(ARGV, i, i + 7)
  local e = live(ENTRY .. member, time)
  if not e or e.state ~= UNKNOWN or e.attempt ~= tonumber(attempt) or (created ~= '' and e.created ~= tonumber(created)) then
    answers[#answers + 1] = lost(e, time)
  else
    e.token = nil
    settle(member, e, tonumber(to), has == '1' and result or nil, time)
    record(member, e, UNKNOWN, e.state, who, why, time)
    answers[#answers + 1] = settled(e)
  end
end
return answers
