import { createHash } from 'node:crypto';

/** Squares of the picture on a side. The right half mirrors the left half. */
const SIDE = 5;
const HALF = 3;

/** A picture of an agent, made from its id: the same id gives the same picture. */
export function AgentIcon({ id }: { id: string }) {
  const bytes = createHash('sha256').update(id).digest();
  const hue = Math.round(((bytes[0] ?? 0) * 360) / 256);
  const squares: string[] = [];
  for (let place = 0; place < SIDE * HALF; place += 1) {
    if (((bytes[1 + place] ?? 0) & 1) === 0) continue;
    const [x, y] = [place % HALF, Math.floor(place / HALF)];
    for (const at of new Set([x, SIDE - 1 - x])) squares.push(`M${at} ${y}h1v1h-1z`);
  }
  return (
    <svg class="agent-icon" viewBox="-1.5 -1.5 8 8" aria-hidden="true">
      <path fill={`hsl(${hue} 62% 42%)`} d="M-1.5-1.5h8v8h-8z" />
      <path fill={`hsl(${hue} 90% 92%)`} d={squares.join('')} />
    </svg>
  );
}
