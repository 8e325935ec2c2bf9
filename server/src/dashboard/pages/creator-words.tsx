import { boundedText } from '../words.js';

export { titleLine } from '../words.js';

/** Text that a creator or a reviewer wrote, kept apart from the service's own words around it. */
export function Words({ text, characters }: { text: string; characters: number }) {
  return <bdi class="words">{boundedText(text, characters)}</bdi>;
}
