-- Settles claims that were the first for their key as completed or failed. All other items are left.
local RECORDED = ARGV[2] == '1'

-- What items share: by state, result and reason; by retention and tombstone; by the length of the member.
local hows, endings, lengths = {}, {}, {}

local function how_of(how)
  local to, has_result = byte(how, 1, 2)
  local flags, why = TOKEN + RESULT * has_result, sub(how, 3)
  local found = {
    is_ordinary = to == COMPLETED or to == FAILED,
    head = char(FORMAT, to, RECORDED and flags or flags + OWN + FIRST),
    why = why,
    own = RECORDED and '' or why,
    record = char(PROCESSING, to, 1),
  }
  hows[how] = found
  return found
end

local function ending_of(terms)
  local retention_ms, tombstone_ms = unpack_bytes('>dd', terms)
  local at = time + retention_ms * 1000
  local found = { at = at, score = score(at), times = time_bytes .. pack('>d', at), native = native_expiry(at + tombstone_ms * 1000) }
  endings[terms] = found
  return found
end

-- A member's length, after the time.
local function length_of(member)
  local found = time_bytes .. length(member)
  lengths[#member] = found
  return found
end

local LISTS = { 'members', 'expiries', 'keys', 'values', 'natives', 'records' }

local function is_ordinary(raw, token, how)
  if not raw or not how.is_ordinary then
    return false
  end
  local written, from, flags = byte(raw, 1, 3)
  return written == FORMAT and from == PROCESSING and flags == TOKEN + FIRST and find(raw, token, TOKEN_AT, true) == TOKEN_AT
    and (RECORDED or time <= number(raw, LEASE))
end

local function plan_ordinary(i, key, raw, how, result)
  local terms = sub(raw, RETENTION_MS, PRINT - 1)
  local ended, partition = endings[terms] or ending_of(terms), group_of(key, LISTS)
  local member, n, expiries = sub(key, #start + 1), partition.count + 1, partition.expiries
  if RECORDED then
    local records, last = partition.records, 6 * n - 5
    records[1] = ''
    records[last + 1], records[last + 2], records[last + 3] = how.record, sub(raw, 4, LEASE - 1), lengths[#member] or length_of(member)
    records[last + 4], records[last + 5], records[last + 6] = member, sub(raw, OPERATION, names_end(raw)), how.why
  end
  partition.count, partition.items[n], partition.members[n], partition.keys[n] = n, i, member, key
  partition.values[n] = how.head .. sub(raw, 4, SETTLED - 1) .. ended.times .. sub(raw, TERMS) .. how.own .. result
  partition.natives[n], expiries[2 * n - 1], expiries[2 * n] = ended.native, ended.score, member
  answers[i + 1] = ended.at
end

local function plan_all(count)
  left = {}
  for first = 1, count, READ_TOGETHER do
    local last = math.min(first + READ_TOGETHER - 1, count)
    local raws = call('MGET', unpack(KEYS, first, last))
    for i = first, last do
      local at = FIXED + 3 * i - 2
      local raw, how = raws[i - first + 1], hows[ARGV[at + 1]] or how_of(ARGV[at + 1])
      if is_ordinary(raw, ARGV[at], how) then
        plan_ordinary(i, KEYS[i], raw, how, ARGV[at + 2])
      else
        left[#left + 1] = i
      end
    end
  end
end

-- The first change needs no memory, so that a server without any takes settlements.
local function index_settled(partition)
  call('ZREM', partition.base .. 'leases', unpack(partition.members))
  call('ZADD', partition.base .. 'expiries', unpack(partition.expiries))
  if RECORDED then
    add_records(partition.base, partition.count, partition.records)
  end
end

local function settle_ordinary(count)
  if not pcall(plan_all, count) then
    -- An entry cannot be read: plan.lua finds out which.
    answers, left = { time }, nil
    return
  end
  for _, partition in ipairs(groups) do
    if pcall(index_settled, partition) then
      local keys, values, natives = partition.keys, partition.values, partition.natives
      for n = 1, #keys do
        call('SET', keys[n], values[n], 'PX', natives[n])
      end
    else
      leave(partition)
    end
  end
end

settle_ordinary((#ARGV - FIXED) / 3)
if left and #left == 0 then
  return answers
end
