-- For each entry: token; terms, fingerprint, operation and owner, as in an entry; start; target (empty: none). Answers the attempt if it
-- is the caller's, else the entry.
return answer(4, function(key, base, member, at)
  local token, tail, start, target = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3]
  local before = OPERATION - TERMS + 1
  local raw = read(key)
  local from = raw and byte(raw, 2) or 0
  if raw and gone(raw) then
    local owner = text_end(tail, before) + 1
    record(base, member, from, 0, sub(raw, 4, 7), names(raw, sub(tail, owner + 2, text_end(tail, owner))), 'its retention is over')
    call('ZREM', base .. 'expiries', member)
    raw, from = nil, 0
  end
  if raw and from == start and has_token(raw, token) then
    local lease = time + number(raw, LEASE_MS) * 1000
    call('ZADD', base .. 'leases', lease, member)
    call('SET', key, leased(raw, lease))
    return attempt(raw)
  end
  if raw then
    local same = sub(raw, PRINT, text_end(raw, OPERATION)) == sub(tail, PRINT - TERMS + 1, text_end(tail, before))
    if not (start == PROCESSING and (from == PENDING or from == RETRYABLE) and same) then
      return raw
    end
  end
  local tries = (raw and attempt(raw) or 0) + (start == PROCESSING and 1 or 0)
  local attempt_bytes = pack('>I4', tries)
  local created = raw and sub(raw, CREATED, LEASE - 1) or pack('>d', time)
  local lease = time + number(tail, LEASE_MS - TERMS + 1) * 1000
  call('ZADD', base .. 'leases', lease, member)
  if from == RETRYABLE then
    call('ZREM', base .. 'expiries', member)
  end
  record(base, member, from, start, attempt_bytes, sub(tail, before), start == PENDING and 'accepted' or 'claimed')
  if not raw then
    call('ZADD', base .. 'ids', 0, member)
  end
  -- The first claim's target stays.
  local about = target == '' and '' or text(target)
  if raw then
    about = sub(raw, names_end(raw) + 1, head_end(raw))
  end
  call('SET', key, char(about == '' and 1 or 2, start, 1) .. attempt_bytes .. token .. created .. pack('>ddd', lease, 0, 0) .. tail .. about)
  return tries
end)
