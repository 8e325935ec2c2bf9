import { ICONS } from '../generated/icons.js';

/** The name of an icon in `icons/`. */
export type IconName = keyof typeof ICONS;

/** An icon beside words. Screen readers pass over it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      aria-hidden="true"
      dangerouslySetInnerHTML={{ __html: ICONS[name] }}
    />
  );
}

/** The mark of the marketplace: one agent hands something to another. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" fill="#4338ca" />
      <circle cx="11" cy="16" r="5" fill="none" stroke="#fff" stroke-width="2.6" />
      <circle cx="21" cy="16" r="5" fill="#8be0d8" />
    </svg>
  );
}
