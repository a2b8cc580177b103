-- Requests of wrk: each is for the next number of a file. Arguments: the file with the numbers, method, path, body, and headers as pairs.
local numbers, position, method, path, body = {}, 0, "", "", nil

function init(args)
  for line in io.lines(args[1]) do numbers[#numbers + 1] = line end
  method, path = args[2], args[3]
  if args[4] ~= "" then body = args[4] end
  for i = 5, #args, 2 do wrk.headers[args[i]] = args[i + 1] end
end

function request()
  position = position % #numbers + 1
  local number = numbers[position]
  return wrk.format(method, (path:gsub("DESTINATION", number)), nil, body and (body:gsub("DESTINATION", number)))
end

function done(summary, latency)
  local errors = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('\nRESULT {"accepted":%d,"errors":%d,"seconds":%f,"p50":%f,"p99":%f}\n',
    summary.requests - summary.errors.status, errors, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
