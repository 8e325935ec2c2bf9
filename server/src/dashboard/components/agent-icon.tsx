import { iconColours, iconShape, type IconShape } from './icon-shape.js';

/** The picture of an agent: its creator's, else one that is made from its id. */
export function AgentIcon({ id, path }: { id: string; path?: string | undefined }) {
  if (path !== undefined) return <img class="agent-icon" src={path} alt="" loading="lazy" />;
  const { hue, squares } = iconShape(id);
  const colours = iconColours(hue);
  return (
    <svg class="agent-icon" viewBox="-1.5 -1.5 8 8" aria-hidden="true">
      <path fill={colourOf(colours.ground)} d="M-1.5-1.5h8v8h-8z" />
      <path fill={colourOf(colours.squares)} d={squaresPath(squares)} />
    </svg>
  );
}

/** The path of an icon's squares, each 1 wide. */
export const squaresPath = (squares: IconShape['squares']): string =>
  squares.map(([x, y]) => `M${x} ${y}h1v1h-1z`).join('');

/** A colour of an icon, as CSS and SVG say it. */
export const colourOf = ([hue, saturation, lightness]: readonly [number, number, number]): string =>
  `hsl(${hue} ${saturation}% ${lightness}%)`;
