-- Compares entries with what a node expects, and swaps those that are so. What an entry becomes is decided in Java: see Changes.java.
--
-- KEYS: the entries, group by group; in a cluster the indexes of their partition; the marks of the partitions, see Marks.java.
-- ARGV: the mark, how many there are, until when all this holds (µs), how many bytes of an entry are answered; for each group: what its
-- keys begin with, how many entries, what to do, stamp, µs, index to leave, index to enter, audit records of an entry, how many more
-- entries its tenant has; for each entry: how it begins now (empty if there is none), the next one before its stamp, after it, and
-- its result, its audit records. Answers the time; how many records the longest audit has, -1 if all this holds no more; then for each
-- entry that is not as expected its place, and its bytes (in a table if that is only the beginning) or what went wrong.
local call, try, sub, pack, format = redis.call, redis.pcall, string.sub, struct.pack, string.format
local time = now()
local answers, at, first = { time, 0 }, 5, 1
if ARGV[2] ~= '0' then
  for _, mark in ipairs(call('MGET', unpack(KEYS, #KEYS - ARGV[2] + 1))) do
    if not mark or sub(mark, 1, #ARGV[1]) ~= ARGV[1] then
      return redis.error_reply('FORGOTTEN the entries are gone, or another store is in their place: see onlyonce store accept')
    end
  end
end
if ARGV[3] ~= '' and time > tonumber(ARGV[3]) then return { time, -1 } end

-- A message has how many records it has, in a byte, and the time; then the records.
local function record(base, records, count)
  local audited = call('INCRBY', base .. 'audited', count)
  local message = string.char(count) .. pack('>d', time) .. table.concat(records)
  local id = try('XADD', base .. 'audit', 'NOMKSTREAM', '*', 'r', message)
  if type(id) == 'table' then
    -- Callers repeat items that fail: what is not added must not count.
    call('DECRBY', base .. 'audited', count)
    error(id)
  elseif not id then
    -- There is no stream yet, or somebody has deleted it and left its count.
    call('SET', base .. 'audited', count)
    audited, id = count, call('XADD', base .. 'audit', '*', 'r', message)
  end
  if #id > 17 then
    -- The clock was set back, and the number of a record has no room for more: the stream goes on in the next millisecond.
    call('XSETID', base .. 'audit', format('%.0f-0', sub(id, 1, 13) + 1))
  end
  answers[2] = math.max(answers[2], audited)
end

-- To remove nothing needs no memory: a server without any takes what begins so. The index that is left and the entries change last.
local function change(base, todo, from, to, members, scored, values, records, count, tenants)
  if from ~= '' then call('ZREM', base .. from, '') end
  if to ~= '' then call('ZADD', base .. to, unpack(scored)) end
  if count > 0 then record(base, records, count) end
  for tenant, more in pairs(tenants) do
    if call('HINCRBY', base .. 'tenants', tenant, more) == 0 then call('HDEL', base .. 'tenants', tenant) end
  end
  if from ~= '' and from ~= to then call('ZREM', base .. from, unpack(members)) end
  if todo ~= 'KEEP' then call(todo, unpack(values)) end
end

while at < #ARGV do
  local base, count, todo, stamp, micros, from, to, each, more = unpack(ARGV, at, at + 8)
  local later = stamp == 'NONE' and micros or stamp == 'NEVER' and 0 or time + micros
  local score = format('%.0f', later)
  local times = stamp == 'NONE' and '' or stamp == 'LATER' and pack('>d', later) or pack('>dd', time, later)
  local last, done, members, scored, values, records, tenants = first + count - 1, {}, {}, {}, {}, {}, {}
  at = at + 9
  -- Most keys are new, which one command tells.
  local fresh = ARGV[at] == '' and todo == 'MSET' and call('EXISTS', unpack(KEYS, first, last)) == 0
  for i = first, last do
    local expected, n = ARGV[at], #done + 1
    local raw = fresh and '' or try('GETRANGE', KEYS[i], 0, expected == '' and ARGV[4] or #expected - 1)
    if raw == expected then
      done[n], members[n], scored[2 * n - 1], records[n] = i, sub(KEYS[i], #base + 3), score, ARGV[at + 4]
      scored[2 * n] = members[n]
      local tenant = more ~= '0' and string.match(members[n], '^%Z*')
      if tenant then tenants[tenant] = (tenants[tenant] or 0) + more end
      if todo == 'MSET' then
        values[2 * n - 1], values[2 * n] = KEYS[i], ARGV[at + 1] .. times .. ARGV[at + 2] .. ARGV[at + 3]
      else
        values[n] = KEYS[i]
      end
    else
      raw = type(raw) == 'table' and { 'failed', raw.err } or expected == '' and raw or call('GETRANGE', KEYS[i], 0, ARGV[4])
      answers[#answers + 1] = i
      answers[#answers + 1] = #raw > tonumber(ARGV[4]) and { sub(raw, 1, 4096) } or raw
    end
    at = at + 5
  end
  local ok, problem = #done == 0, nil
  if not ok then ok, problem = pcall(change, base, todo, from, to, members, scored, values, records, #done * each, tenants) end
  for n = 1, ok and 0 or #done do
    -- No index may lose an entry.
    if from ~= '' then try('ZADD', base .. from, from == 'unknown' and '0' or format('%.0f', time), members[n]) end
    answers[#answers + 1] = done[n]
    answers[#answers + 1] = { 'failed', type(problem) == 'table' and problem.err or tostring(problem) }
  end
  first = last + 1
end
return answers
