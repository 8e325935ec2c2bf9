import { createHash } from 'node:crypto';

/** Squares of the picture on a side. The right half mirrors the left half. */
export const ICON_SIDE = 5;
const HALF = 3;

/** The picture of an agent: a hue in degrees, and the places of its squares. */
export interface IconShape {
  readonly hue: number;
  readonly squares: readonly (readonly [x: number, y: number])[];
}

/** Makes the picture of an agent from its id: the same id gives the same picture. */
export function iconShape(id: string): IconShape {
  const bytes = createHash('sha256').update(id).digest();
  const squares: [number, number][] = [];
  for (let place = 0; place < ICON_SIDE * HALF; place += 1) {
    if (((bytes[1 + place] ?? 0) & 1) === 0) continue;
    const [x, y] = [place % HALF, Math.floor(place / HALF)];
    for (const at of new Set([x, ICON_SIDE - 1 - x])) squares.push([at, y]);
  }
  return { hue: Math.round(((bytes[0] ?? 0) * 360) / 256), squares };
}

/** The colours of its ground and of its squares: hue in degrees, saturation and lightness in percent. */
export const iconColours = (hue: number) => ({ ground: [hue, 62, 42], squares: [hue, 90, 92] }) as const;
