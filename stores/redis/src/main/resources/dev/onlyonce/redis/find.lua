-- For each entry: how many bytes of it (0 for all). Answers what is stored, empty for nothing; for all of a large entry the length of what was
-- read of it.
local refusal = forgotten()
if refusal then
  return refusal
end
local answers, room = { time }, ANSWER_BYTES

for i = 1, #ARGV - FIXED do
  local bytes = tonumber(ARGV[FIXED + i])
  local found = try('GETRANGE', KEYS[i], 0, bytes == 0 and SMALL_BYTES or bytes - 1)
  if type(found) == 'table' then
    found = failed(found)
  elseif bytes == 0 and #found > SMALL_BYTES then
    found = { #found }
  else
    room = room - #found
  end
  answers[i + 1] = found
  if room < 0 then
    return answers
  end
end
return answers
