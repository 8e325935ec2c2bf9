/**
 * Whether an `Accept` header takes a media type (RFC 9110, section 12.5.1). The most exact range decides; without the header
 * every type is taken.
 */
export function takesMediaType(accept: string | null, mediaType: string): boolean {
  if (accept === null || accept.trim() === '') return true;
  const [group = ''] = mediaType.split('/');
  const quality = new Map(accept.split(',').map(readRange));
  return (quality.get(mediaType) ?? quality.get(`${group}/*`) ?? quality.get('*/*') ?? 0) > 0;
}

function readRange(text: string): [range: string, quality: number] {
  const [range = '', ...parameters] = text.toLowerCase().split(';');
  const quality = parameters.map((each) => each.trim()).find((each) => each.startsWith('q='));
  return [range.trim(), quality === undefined ? 1 : Number(quality.slice(2))];
}
