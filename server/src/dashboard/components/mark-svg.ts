/** The mark as a picture by itself. @param sidePx of a drawn picture; absent: the reader decides */
export function markSvg(sidePx?: number): string {
  const size = sidePx === undefined ? '' : ` width="${sidePx}" height="${sidePx}"`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg"${size} viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#4338ca"/>` +
    '<circle cx="11" cy="16" r="5" fill="none" stroke="#fff" stroke-width="2.6"/><circle cx="21" cy="16" r="5" fill="#8be0d8"/></svg>'
  );
}
