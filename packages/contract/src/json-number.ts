/** Significant decimal digits that a double always keeps. */
const KEPT_DIGITS = 15;
/** Significant decimal digits that name each double. */
const DOUBLE_DIGITS = 17;
/** JavaScript writes a larger integer with an exponent. */
const MOST_INTEGER_DIGITS = 21;
/** An exponent of so few digits is within the range of doubles. */
const SMALL_EXPONENT_DIGITS = 2;

const [PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E] = [0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65];

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isExponent = (code: number): boolean => code === LOWER_E || code === UPPER_E;

/** The place after the number that begins at `start` of a JSON text. */
export function endOfNumber(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && code !== POINT && !isExponent(code) && code !== MINUS && code !== PLUS) return at;
  }
}

/**
 * Whether JavaScript keeps a number of a JSON text. An integer keeps all its digits. A fraction, or a number with an exponent,
 * keeps up to 17 digits: some languages write the double 0.1 as 0.10000000000000001.
 */
export function keepsNumber(text: string, start = 0, end = text.length): boolean {
  /** Digits from the first that is not zero. */
  let digits = 0;
  /** The same, up to the last that is not zero. */
  let significant = 0;
  let integerDigits = 0;
  let isInteger = true;
  let at = start;
  for (; at < end && !isExponent(text.charCodeAt(at)); at += 1) {
    const code = text.charCodeAt(at);
    if (code === POINT) isInteger = false;
    if (!isDigit(code) || (code === ZERO && digits === 0)) continue;
    digits += 1;
    if (code !== ZERO) significant = digits;
    if (isInteger) integerDigits = digits;
  }
  const hasExponent = at < end;
  const exponentDigits = end - at - 1;
  if (integerDigits <= MOST_INTEGER_DIGITS && exponentDigits <= SMALL_EXPONENT_DIGITS) {
    if (significant <= KEPT_DIGITS) return true;
    if ((!isInteger || hasExponent) && significant <= DOUBLE_DIGITS && integerDigits <= KEPT_DIGITS)
      return true;
  }
  const number = text.slice(start, end);
  const value = Number(number);
  if (String(value) === number) return true;
  if (isInteger && !hasExponent) return false;
  const isInRange = Number.isFinite(value) && (value !== 0 || significant === 0);
  return isInRange && significant <= DOUBLE_DIGITS && integerDigits <= KEPT_DIGITS;
}
