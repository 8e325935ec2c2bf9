/** A regular expression as RE2 needs it, which matches in linear time. */
export interface LinearExpression {
  /** In the spelling of RE2; undefined with a lookaround or a reference to a group, which RE2 lacks. */
  readonly text: string | undefined;
  /** About the number of its states: a part that is repeated up to ten times is ten states. */
  readonly states: number;
  /** About the number of its parts, however often they are repeated. */
  readonly parts: number;
}

/** White space of ECMA-262, which RE2 has only of ASCII, and all other characters. */
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const ANY = '[\\x00-\\x{10ffff}]';
const NONE = '[^\\x00-\\x{10ffff}]';

/** The long names of general categories, which RE2 has by their letters only. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  [
    'Letter=L Uppercase_Letter=Lu Lowercase_Letter=Ll Titlecase_Letter=Lt Modifier_Letter=Lm',
    'Other_Letter=Lo Mark=M Combining_Mark=M Nonspacing_Mark=Mn Spacing_Mark=Mc Enclosing_Mark=Me',
    'Number=N Decimal_Number=Nd digit=Nd Letter_Number=Nl Other_Number=No Punctuation=P punct=P',
    'Connector_Punctuation=Pc Dash_Punctuation=Pd Open_Punctuation=Ps Close_Punctuation=Pe',
    'Initial_Punctuation=Pi Final_Punctuation=Pf Other_Punctuation=Po Symbol=S Math_Symbol=Sm',
    'Currency_Symbol=Sc Modifier_Symbol=Sk Other_Symbol=So Separator=Z Space_Separator=Zs',
    'Line_Separator=Zl Paragraph_Separator=Zp Control=Cc Format=Cf Private_Use=Co Surrogate=Cs',
  ]
    .flatMap((line) => line.split(' '))
    .map((pair) => pair.split('=') as [string, string]),
);
/** A class of Unicode has hundreds of ranges. */
const PROPERTY_STATES = 100;

/** A group that was opened: the states in it, and in its last part, which a count repeats. */
interface Group {
  states: number;
  last: number;
}

/** Spells a regular expression of ECMA-262 for RE2. A text that is no regular expression gives another such text. */
export function linearExpression(source: string): LinearExpression {
  const groups: Group[] = [{ states: 0, last: 0 }];
  const texts: string[] = [];
  let isLinear = true;
  let parts = 0;
  let at = 0;
  while (at < source.length) {
    const text = matchAt(TOKEN, source, at);
    at += text.length;
    const group = groups.at(-1) as Group;
    if (text.startsWith('(')) {
      isLinear &&= !/^\(\?<?[=!]/.test(text);
      parts += 1;
      // The groups' texts are not needed.
      texts.push(text === '(' || text.startsWith('(?<') ? '(?:' : text);
      groups.push({ states: 0, last: 0 });
    } else if (text === ')') {
      texts.push(text);
      if (groups.length > 1) groups.pop();
      const outer = groups.at(-1) as Group;
      outer.states += group.states;
      outer.last = group.states;
    } else if (/^\{\d/.test(text)) {
      texts.push(text);
      const times = Math.max(...text.slice(1, -1).split(',').map(Number), 1);
      group.states += group.last * (times - 1);
      group.last *= times;
    } else {
      isLinear &&= !/^\\[1-9k]/.test(text);
      const { translated, states } = partOf(text);
      texts.push(translated);
      parts += states;
      group.states += states;
      group.last = states;
    }
  }
  // Groups that are never closed are wrong, and RE2 says so.
  const states = groups.reduce((sum, group) => sum + group.states, 0);
  return { text: isLinear ? texts.join('') : undefined, states, parts };
}

function partOf(text: string): { translated: string; states: number } {
  if (text.startsWith('\\')) return { translated: escaped(text, false), states: statesOf(text) };
  if (text.startsWith('[')) return classOf(text);
  return { translated: text === '.' ? '[^\\n\\r\\x{2028}\\x{2029}]' : text, states: 1 };
}

function statesOf(escape: string): number {
  return /^\\[pP]/.test(escape) ? PROPERTY_STATES : 1;
}

/** One part of a regular expression. */
const TOKEN = new RegExp(
  [
    String.raw`\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`,
    String.raw`|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[^])`,
    String.raw`|\[(?:\\[^]|[^\]\\])*\]`,
    String.raw`|\((?:\?(?:<?[=!]|<[^>]*>|P<[^>]*>|[a-zA-Z-]*:?))?`,
    String.raw`|\{\d+(?:,\d*)?\}|[^]`,
  ].join(''),
  'y',
);
/** One part of a class. */
const MEMBER = new RegExp(
  [
    String.raw`\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`,
    String.raw`|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[^])|\[:\^?[a-z]+:\]|[^]`,
  ].join(''),
  'y',
);

function matchAt(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? (source[at] as string);
}

function classOf(source: string): { translated: string; states: number } {
  if (source === '[]') return { translated: NONE, states: 1 };
  if (source === '[^]') return { translated: ANY, states: 1 };
  const inner = source.slice(1, -1);
  let translated = '[';
  let states = 1 + (inner.length >> 4);
  let at = 0;
  while (at < inner.length) {
    const text = matchAt(MEMBER, inner, at);
    at += text.length;
    if (text.startsWith('\\')) {
      states += statesOf(text) - 1;
      translated += escaped(text, true);
    } else translated += text === '[' ? '\\[' : text;
  }
  return { translated: `${translated}]`, states };
}

/** An escape in the spelling of RE2. */
function escaped(text: string, isInClass: boolean): string {
  const letter = text[1];
  const rest = text.slice(2);
  switch (letter) {
    case 's':
      return isInClass ? SPACE : `[${SPACE}]`;
    case 'S':
      return isInClass ? NO_SPACE : `[^${SPACE}]`;
    case 'p':
    case 'P':
      return `\\${letter}${property(rest)}`;
    case 'c':
      return rest === '' ? text : hex(rest.charCodeAt(0) % 32);
    case '0':
      return hex(0);
    case 'b':
      return isInClass ? hex(8) : text;
    case 'u': {
      if (rest === '') return 'u';
      const [high, low] = rest.split('\\u').map((digits) => Number.parseInt(digits.replace(/[{}]/g, ''), 16));
      if (high === undefined) return text;
      return hex(low === undefined ? high : 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00));
    }
    default:
      // RE2 takes escapes of ASCII only.
      return letter !== undefined && letter > '\u007f' ? letter : text;
  }
}

function hex(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

/** `{Letter}` or `{Script=Greek}`, in the spelling of RE2. Other names stay: RE2 has some, and refuses the rest. */
function property(braced: string): string {
  const [key, value = key] = braced.slice(1, -1).split('=') as [string, string?];
  if (braced.includes('=') && !['Script', 'sc', 'General_Category', 'gc'].includes(key)) return braced;
  return `{${CATEGORIES.get(value) ?? value}}`;
}
