-- For each entry: format, state, flags and attempt of a new entry; its token, and everything after it. Answers the attempt if it is the
-- caller's, else the entry, or the length of what was read of it if it is large.
local TAIL = TOKEN_AT - 1
local TAIL_OPERATION = OPERATION - TAIL
local leases = {}
local function lease_of(ms)
  local found = leases[ms]
  if not found then
    local at = time + ms * 1000
    found = { score = score(at), bytes = pack('>d', at) }
    found.times = time_bytes .. found.bytes
    leases[ms] = found
  end
  return found
end

local function same_request(raw, tail)
  return sub(raw, PRINT, text_end(raw, OPERATION)) == sub(tail, PRINT - TAIL, text_end(tail, TAIL_OPERATION))
end

-- If an index has lost the entry, because somebody has deleted or overwritten a key: else nobody would end it.
local function index_again(partition, member, raw, from)
  if from == UNKNOWN then
    add(partition, 'unknown', '0', member)
  elseif (from == PENDING or from == PROCESSING) and number(raw, LEASE) <= time then
    add(partition, 'leases', score(number(raw, LEASE)), member)
  end
end

return answer(2, function(i, key, raw, at)
  local head, tail = ARGV[at], ARGV[at + 1]
  local lease = lease_of(number(tail, LEASE_MS - TAIL))
  local partition, member = place(key)
  if not raw then
    add(partition, 'ids', '0', member)
    add(partition, 'leases', lease.score, member)
    create(i, partition, key, head .. lease.times .. tail)
    return byte(head, 7)
  end
  local from, start = byte(raw, 2), byte(head, 2)
  if gone(raw) then
    local owned = text_end(tail, TAIL_OPERATION) + 1
    add(partition, 'ids', '0', member)
    add(partition, 'leases', lease.score, member)
    remove(partition, 'expiries', member)
    if ARGV[2] == '1' then
      record_own(partition, member, raw)
    end
    record(partition, member, raw, from, 0, sub(raw, 4, 7), time_bytes,
      names(raw, sub(tail, owned + 2, text_end(tail, owned))), text('its retention is over'))
    write(i, partition, key, head .. lease.times .. tail)
    return byte(head, 7)
  end
  if from == start and has_token(raw, sub(tail, 1, 16)) then
    local until_time = time + number(raw, LEASE_MS) * 1000
    add(partition, 'leases', score(until_time), member)
    write(i, partition, key, leased(raw, until_time))
    return attempt(raw)
  end
  if start ~= PROCESSING or (from ~= PENDING and from ~= RETRYABLE) or not same_request(raw, tail) then
    index_again(partition, member, raw, from)
    return #raw > SMALL_BYTES and { #raw } or raw
  end
  local tries = attempt(raw) + 1
  local attempt_bytes, named = pack('>I4', tries), text_end(tail, text_end(tail, TAIL_OPERATION) + 1)
  add(partition, 'leases', lease.score, member)
  if from == RETRYABLE then
    remove(partition, 'expiries', member)
  end
  record(partition, member, raw, from, start, attempt_bytes, time_bytes, sub(tail, TAIL_OPERATION, named), text('claimed'))
  -- The first claim's target stays.
  local target = names_end(raw) + 1
  write(i, partition, key, char(FORMAT, start, TOKEN) .. attempt_bytes .. sub(raw, CREATED, LEASE - 1) .. lease.bytes
    .. sub(tail, 1, named) .. sub(raw, target, text_end(raw, target)))
  return tries
end, beginnings)
