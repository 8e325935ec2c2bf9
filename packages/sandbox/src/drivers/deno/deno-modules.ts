const NAMES = `
  _http_agent _http_common _http_outgoing _http_server _stream_duplex _stream_passthrough _stream_readable
  _stream_transform _stream_writable _tls_common _tls_wrap assert assert/strict async_hooks buffer
  child_process cluster console constants crypto dgram diagnostics_channel dns dns/promises domain events fs
  fs/promises http http2 https inspector inspector/promises module net os path path/posix path/win32 perf_hooks
  process punycode querystring readline readline/promises repl sqlite stream stream/consumers stream/promises
  stream/web string_decoder sys test test/reporters timers timers/promises tls trace_events tty url util
  util/types v8 vm wasi worker_threads zlib
`
  .trim()
  .split(/\s+/);

/** The built-in modules of Deno, by their import names. A test compares this list with Deno's. */
export const DENO_MODULES: readonly string[] = NAMES.map((name) => `node:${name}`);
