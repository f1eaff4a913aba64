-- For each entry: how many bytes of it (0 for all). Answers what is stored, empty for nothing.
local answers, room = { time }, ANSWER_BYTES

-- What the reading of several did not show: nothing, a part of an entry, or an error if the key holds something else.
local function read(i)
  local found = try('GETRANGE', KEYS[i], 0, ARGV[FIXED + i] - 1)
  return type(found) == 'table' and failed(found) or found
end

local count = #ARGV - FIXED
for first = 1, count, READ_TOGETHER do
  local last = math.min(first + READ_TOGETHER - 1, count)
  local whole = ARGV[FIXED + first] == '0' and call('MGET', unpack(KEYS, first, last)) or {}
  for i = first, last do
    local found = whole[i - first + 1] or read(i)
    answers[i + 1] = found
    room = room - #found
    if room < 0 then
      return answers
    end
  end
end
return answers
