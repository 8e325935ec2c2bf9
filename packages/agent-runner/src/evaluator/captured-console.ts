const MAX_CAPTURED_CHARACTERS = 16_384;

/** The output that code prints, kept up to a bound. */
interface CapturedConsole {
  /** Replaces the global console. */
  console: Record<string, (...values: unknown[]) => void>;
  text(): string;
}

function show(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** A console whose output becomes part of the result instead of going to stdout. */
export function captureConsole(): CapturedConsole {
  let captured = '';
  let cut = false;
  const print = (...values: unknown[]): void => {
    if (cut) return;
    captured += `${values.map(show).join(' ')}\n`;
    if (captured.length > MAX_CAPTURED_CHARACTERS) {
      captured = `${captured.slice(0, MAX_CAPTURED_CHARACTERS)}\n[output cut]`;
      cut = true;
    }
  };
  return {
    console: { log: print, info: print, warn: print, error: print, debug: print, table: print, dir: print },
    text: () => captured,
  };
}
