/** A stranger's words for a terminal: on one line, without its control characters. */
export function onOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
