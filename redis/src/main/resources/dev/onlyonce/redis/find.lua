-- For each entry: how many bytes of it (0 for all). Answers what is stored, empty for nothing.
local answers, room = { time }, ANSWER_BYTES

-- Entries that are larger than this on average are read one by one: few of them fit into an answer.
local SMALL_BYTES = 65536

-- What is not read together: nothing, a part of an entry, or an error if the key holds something else.
local function read(i)
  local found = try('GETRANGE', KEYS[i], 0, ARGV[FIXED + i] - 1)
  return type(found) == 'table' and failed(found) or found
end

local count, first, together = #ARGV - FIXED, 1, 1
while first <= count do
  local last = math.min(first + together - 1, count)
  local whole = ARGV[FIXED + first] == '0' and call('MGET', unpack(KEYS, first, last)) or {}
  for i = first, last do
    local found = whole[i - first + 1] or read(i)
    answers[i + 1] = found
    room = room - #found
    if room < 0 then
      return answers
    end
  end
  first, together = last + 1, ANSWER_BYTES - room < last * SMALL_BYTES and READ_TOGETHER or 1
end
return answers
