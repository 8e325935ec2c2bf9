/**
 * The source reviewer's program. Every function here is lifted into the agent's prompt as text and runs in the sandbox.
 * So each is a declaration that uses only the others and the language. They are in one file because an import would not be
 * lifted with them. Patterns have bounded repeats: a hostile file must not be able to make them slow.
 */

/** One thing found in the source. `line` begins at 1. */
interface ReviewFinding {
  line: number;
  severity: 'error' | 'warning' | 'info';
  rule: string;
  message: string;
}

/** The program's answer. */
export interface Review {
  ok: boolean;
  language: string;
  summary: string;
  lines: number;
  findings: ReviewFinding[];
  findings_omitted: number;
}

type Note = (line: number, severity: ReviewFinding['severity'], rule: string, message: string) => void;

/** The language that a file's name tells. */
export function languageOf(filename: string): string {
  const extension = /\.([a-z]{1,5})$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const extensions: [string, string[]][] = [
    ['javascript', ['js', 'mjs', 'cjs', 'jsx']],
    ['typescript', ['ts', 'mts', 'cts', 'tsx']],
    ['python', ['py', 'pyi']],
    ['go', ['go']],
    ['rust', ['rs']],
    ['c-like', ['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'cs', 'java', 'kt', 'swift', 'scala', 'php']],
  ];
  return extensions.find(([, known]) => known.includes(extension))?.[0] ?? 'unknown';
}

/**
 * Splits a source into code and comments: `code` has comments and the insides of strings blanked, `comments` has
 * everything but comments blanked. Line numbers stay the same.
 */
export function separate(source: string, language: string): { code: string; comments: string } {
  if (language === 'unknown') return { code: source, comments: source };
  const python = language === 'python';
  const script = language === 'javascript' || language === 'typescript';
  const code: string[] = [];
  const comments: string[] = [];
  // For each `${` that is open around here, how many braces are open inside it.
  const templates: number[] = [];
  let at = 0;
  const take = (end: number, part: 'code' | 'comment' | 'string') => {
    const text = source.slice(at, end);
    const blank = part === 'code' ? '' : text.replace(/[^\n]/g, ' ');
    code.push(part === 'code' ? text : part === 'string' ? `"${blank.slice(1)}` : blank);
    comments.push(part === 'comment' ? text : part === 'code' ? text.replace(/[^\n]/g, ' ') : blank);
    at = end;
  };
  const after = (mark: string, from: number) => {
    const found = source.indexOf(mark, from);
    return found < 0 ? source.length : found + mark.length;
  };
  const matchAt = (pattern: RegExp, from: number) => {
    pattern.lastIndex = from;
    return pattern.exec(source)?.[0].length ?? 0;
  };
  const takeString = (quote: string) => {
    let end = at + 1;
    while (end < source.length && source[end] !== quote && source[end] !== '\n') {
      end += source[end] === '\\' ? 2 : 1;
    }
    take(Math.min(source.length, end + (source[end] === quote ? 1 : 0)), 'string');
  };
  const takeTemplate = (from: number) => {
    let end = from;
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end)) {
      end += source[end] === '\\' ? 2 : 1;
    }
    if (source[end] === '$') templates.push(0);
    take(Math.min(source.length, end + (source[end] === '$' ? 2 : 1)), 'string');
  };
  const interesting = /["'`/#{}]/g;
  while (at < source.length) {
    interesting.lastIndex = at;
    const next = interesting.exec(source)?.index ?? source.length;
    if (next > at) take(next, 'code');
    const mark = source[at];
    const open = templates.length - 1;
    if (mark === undefined) break;
    if (python && mark === '#') take(after('\n', at), 'comment');
    else if (python && (source.startsWith('"""', at) || source.startsWith("'''", at))) {
      take(after(source.slice(at, at + 3), at + 3), 'string');
    } else if (!python && source.startsWith('//', at)) take(after('\n', at), 'comment');
    else if (!python && source.startsWith('/*', at)) take(after('*/', at + 2), 'comment');
    else if (script && mark === '`') takeTemplate(at + 1);
    else if (language === 'go' && mark === '`') take(after('`', at + 1), 'string');
    else if (script && open >= 0 && mark === '}' && templates[open] === 0) {
      templates.pop();
      takeTemplate(at + 1);
    } else if (mark === '{' || mark === '}') {
      if (open >= 0) templates[open] = (templates[open] ?? 0) + (mark === '{' ? 1 : -1);
      take(at + 1, 'code');
    } else if (mark === '"' || (mark === "'" && (python || script))) takeString(mark);
    else if (mark === "'") {
      // Elsewhere a quote holds one character, or begins a lifetime.
      const length = matchAt(/'(?:[^'\\\n]|\\[^\n]{1,10}?)'/y, at);
      take(at + Math.max(1, length), length > 0 ? 'string' : 'code');
    } else if (script && mark === '/') {
      const before = source.slice(Math.max(0, at - 100), at).trimEnd();
      const operand = /[\w$)\]}"'`]$/.test(before) && !/\b(return|typeof|case|in|of)$/.test(before);
      const pattern = /\/(?:[^/\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,500}\]){1,1000}\/[a-z]{0,8}/y;
      const length = operand ? 0 : matchAt(pattern, at);
      take(at + Math.max(1, length), length > 0 ? 'string' : 'code');
    } else take(at + 1, 'code');
  }
  return { code: code.join(''), comments: comments.join('') };
}

/** Rules that one line is enough for. */
export function reviewLines(
  source: string,
  code: string,
  comments: string,
  language: string,
  note: Note,
): void {
  const script = ['javascript', 'typescript'];
  type Rule = [RegExp, ReviewFinding['severity'], string, string];
  const codeRules: [string[], Rule[]][] = [
    [
      script,
      [
        [/\beval\s{0,9}\(|\bnew\s{1,9}Function\s{0,9}\(/, 'error', 'no-eval', 'Runs text as code.'],
        [
          /\bset(?:Timeout|Interval)\s{0,9}\(\s{0,9}"/,
          'error',
          'no-implied-eval',
          'A timer runs text as code.',
        ],
        [/\bdebugger\b/, 'error', 'no-debugger', 'A debugger statement is left in.'],
        [
          /\.(?:inner|outer)HTML\s{0,9}\+?=(?!=)/,
          'error',
          'no-raw-html',
          'Writes text into the page as HTML.',
        ],
        [
          /(?<![=!<>])[=!]=(?!=)(?!\s{0,9}null\b)/,
          'warning',
          'eqeqeq',
          'Compares with conversion; use === or !==.',
        ],
        [
          /\bconsole\s{0,9}\.\s{0,9}(?:log|debug|trace)\b/,
          'warning',
          'no-console',
          'Console output is left in.',
        ],
        [/(?<![\w$.])var\s/, 'info', 'no-var', 'Use const or let.'],
      ],
    ],
    [
      ['typescript'],
      [[/(?::|\bas|<)\s{0,9}any\b/, 'info', 'no-explicit-any', 'any turns type checking off.']],
    ],
    [
      ['python'],
      [
        [/(?<![\w.])(?:eval|exec)\s{0,9}\(/, 'error', 'no-eval', 'Runs text as code.'],
        [/\bshell\s{0,9}=\s{0,9}True\b/, 'error', 'no-shell', 'Hands a command line to a shell.'],
        [/^\s{0,200}except\s{0,9}:/, 'warning', 'bare-except', 'Catches everything, also KeyboardInterrupt.'],
        [/[=!]=\s{0,9}None\b/, 'warning', 'none-comparison', 'Compare with None by is.'],
        [
          /\bdef\s{1,9}\w{1,99}\s{0,9}\([^)]{0,300}=\s{0,9}(?:\[\]|\{\})/,
          'warning',
          'mutable-default',
          'A default that is shared by all calls.',
        ],
        [/^\s{0,200}from\s{1,9}\S{1,200}\s{1,9}import\s{1,9}\*/, 'info', 'star-import', 'Name each import.'],
        [/(?<![\w.])print\s{0,9}\(/, 'info', 'no-print', 'Console output is left in.'],
      ],
    ],
  ];
  const sourceRules: Rule[] = [
    [/^(?:<{7}|>{7}) /, 'error', 'merge-conflict', 'A merge conflict is left in.'],
    [
      /-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY-----/,
      'error',
      'secret',
      'A private key is in the source.',
    ],
    [/\bAKIA[0-9A-Z]{16}\b/, 'error', 'secret', 'A cloud access key is in the source.'],
    [
      /\b(?:gh[pousr]_\w{36}|xox[abprs]-[\w-]{10}|sk-[\w-]{20}|eyJ[\w-]{10,500}\.[\w-]{10,500}\.)/,
      'error',
      'secret',
      'An access token is in the source.',
    ],
    [
      /(["'`])(?:SELECT .{1,200}FROM|INSERT INTO|UPDATE .{1,100} SET|DELETE FROM)\b(?:(?!\1).){0,300}(?:\{|\1\s{0,9}[+%])/i,
      'error',
      'sql-concatenation',
      'A query is put together from text; use parameters.',
    ],
    [/\b(?:md5|sha1)\b["']?\s{0,9}[(),]/i, 'warning', 'weak-hash', 'MD5 and SHA-1 do not protect anything.'],
    [/^.{161}/u, 'info', 'max-len', 'The line is longer than 160 characters.'],
  ];
  const assigned =
    /(?:password|passwd|secret|api_?key|token|access_?key)\w{0,20}["']?\s{0,9}[:=]\s{0,9}["'`]([^"'`\s]{8,200})["'`]/i;
  const placeholder = /^(?:x+$|\*+$|<|\$\{|\{|%|your|change|example|dummy|placeholder|todo)/i;
  const sourceLines = source.split('\n');
  const commentLines = comments.split('\n');
  const rules = codeRules.flatMap(([languages, known]) => (languages.includes(language) ? known : []));
  for (const [index, text] of code.split('\n').entries()) {
    const whole = sourceLines[index] ?? '';
    const apply = (known: Rule[], subject: string) => {
      for (const [pattern, severity, rule, message] of known) {
        if (pattern.test(subject)) note(index + 1, severity, rule, message);
      }
    };
    apply(rules, text);
    apply(sourceRules, whole);
    const value = assigned.exec(whole)?.[1];
    // The value itself is never repeated: an answer is read by more people than the file is.
    if (value !== undefined && !placeholder.test(value)) {
      note(index + 1, 'error', 'secret', 'A password or key is written into the source.');
    }
    const todo = /\b(?:TODO|FIXME|HACK|XXX)\b.{0,80}/.exec(commentLines[index] ?? '');
    if (todo !== null) note(index + 1, 'info', 'todo', `Left to do: ${todo[0].trim()}`);
  }
}

/** Length, nesting and brackets of a source with braces; `code` has no comments and no strings. */
export function reviewBraces(code: string, language: string, note: Note): void {
  interface Open {
    bracket: string;
    kind: string;
    line: number;
    at: number;
    depth: number;
  }
  const controls = ['if', 'for', 'while', 'switch', 'catch', 'with', 'foreach', 'match', 'loop', 'select'];
  const closing = new Map([
    [')', '('],
    [']', '['],
    ['}', '{'],
  ]);
  const stack: Open[] = [];
  // Where the round bracket that was closed last had been opened.
  let lastOpened = 0;
  let line = 1;
  const kindOfBlock = (at: number): string => {
    const before = code.slice(Math.max(0, at - 200), at).trimEnd();
    if (before.endsWith('=>')) return 'function';
    if (/\b(?:else|do|try|finally|catch|loop|unsafe)$/.test(before)) return 'control';
    const statement = before.slice(before.lastIndexOf('\n') + 1);
    if (language === 'go' || language === 'rust') {
      if (/^[\s}]*(?:else\s+)?(?:if|for|while|match|switch|loop|select)\b/.test(statement)) return 'control';
      return /\b(?:func|fn)\b/.test(statement) ? 'function' : 'block';
    }
    if (/\bclass\b/.test(statement)) return 'block';
    if (before.endsWith(')')) {
      const word = /([\w$]{1,60})\s{0,9}$/.exec(code.slice(Math.max(0, lastOpened - 70), lastOpened));
      return controls.includes(word?.[1] ?? '') ? 'control' : 'function';
    }
    return /\)\s{0,9}:\s{0,9}[\w<>[\]., |]{1,80}$/.test(before) ? 'function' : 'block';
  };
  const brackets = /[\n()[\]{}]/g;
  for (let found = brackets.exec(code); found !== null; found = brackets.exec(code)) {
    const [bracket] = found;
    const at = found.index;
    const around = stack[stack.length - 1];
    if (bracket === '\n') line += 1;
    else if (!closing.has(bracket)) {
      const kind = bracket === '{' ? kindOfBlock(at) : 'bracket';
      const outer = around?.depth ?? 0;
      const depth = kind === 'function' ? 0 : kind === 'control' ? outer + 1 : outer;
      if (kind === 'control' && depth === 5) {
        note(line, 'warning', 'max-depth', 'Control flow is nested more than 4 deep.');
      }
      stack.push({ bracket, kind, line, at, depth });
    } else if (around?.bracket !== closing.get(bracket)) {
      const message =
        around === undefined
          ? `This "${bracket}" closes nothing.`
          : `This "${bracket}" does not close the "${around.bracket}" of line ${around.line}.`;
      note(line, 'warning', 'unbalanced', message);
      return;
    } else {
      stack.pop();
      if (bracket === ')') lastOpened = around!.at;
      const length = line - around!.line + 1;
      if (around!.kind === 'function' && length > 60) {
        note(
          around!.line,
          'warning',
          'max-lines-per-function',
          `The function is ${length} lines long; 60 is plenty.`,
        );
      }
      const inside = code.slice(around!.at + 1, Math.min(at, around!.at + 400));
      const head = code.slice(Math.max(0, around!.at - 100), around!.at);
      if (around!.kind === 'control' && inside.trim() === '' && /\bcatch\b[^{}]{0,80}$/.test(head)) {
        note(around!.line, 'warning', 'no-empty-catch', 'The error is swallowed.');
      }
    }
  }
  const open = stack[stack.length - 1];
  if (open !== undefined) note(open.line, 'warning', 'unbalanced', `This "${open.bracket}" is never closed.`);
}

/** Length and nesting of a source with indentation; `code` has no comments and no strings. */
export function reviewIndentation(code: string, note: Note): void {
  const blocks: { indent: number; line: number; isFunction: boolean; depth: number }[] = [];
  let last = 0;
  let brackets = 0;
  let tabs = 0;
  let spaces = 0;
  const closeTo = (indent: number) => {
    for (let top = blocks.pop(); top !== undefined; top = blocks.pop()) {
      if (top.indent < indent) {
        blocks.push(top);
        return;
      }
      const length = last - top.line + 1;
      if (top.isFunction && length > 60) {
        note(
          top.line,
          'warning',
          'max-lines-per-function',
          `The function is ${length} lines long; 60 is plenty.`,
        );
      }
    }
  };
  for (const [index, text] of code.split('\n').entries()) {
    if (text.trim() === '') continue;
    const inside = brackets > 0;
    for (const bracket of text.match(/[()[\]{}]/g) ?? []) brackets += '([{'.includes(bracket) ? 1 : -1;
    if (!inside) {
      const lead = text.slice(0, text.length - text.trimStart().length);
      if (lead.includes('\t')) tabs ||= index + 1;
      if (lead.includes(' ')) spaces ||= index + 1;
      closeTo(lead.length);
      const isFunction = /^\s*(?:async\s{1,9})?def\b/.test(text);
      if (
        isFunction ||
        /^\s*(?:async\s{1,9})?(?:if|elif|else|for|while|with|try|except|finally|match)\b/.test(text)
      ) {
        const depth = isFunction ? 0 : (blocks[blocks.length - 1]?.depth ?? 0) + 1;
        blocks.push({ indent: lead.length, line: index + 1, isFunction, depth });
        if (depth === 5) note(index + 1, 'warning', 'max-depth', 'Control flow is nested more than 4 deep.');
      }
    }
    last = index + 1;
  }
  closeTo(0);
  if (tabs > 0 && spaces > 0) {
    note(Math.max(tabs, spaces), 'warning', 'mixed-indentation', 'Tabs and spaces are mixed in indentation.');
  }
}

/** The program: `input` is `{filename?, source}`; whatever else arrives gets a message, never an exception. */
export function reviewSource(input: unknown): Review {
  const given = Object(typeof input === 'string' ? { source: input } : input) as Record<string, unknown>;
  const { filename, source: text } = given as { filename?: unknown; source?: unknown };
  const language = languageOf(typeof filename === 'string' ? filename : '');
  if (typeof text !== 'string') {
    const summary = 'Send the file as {"filename": "name.js", "source": "its text"}.';
    return { ok: false, language, summary, lines: 0, findings: [], findings_omitted: 0 };
  }
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const lines = source === '' ? 0 : source.split('\n').length - (source.endsWith('\n') ? 1 : 0);
  const findings: ReviewFinding[] = [];
  const note: Note = (line, severity, rule, message) => findings.push({ line, severity, rule, message });
  const { code, comments } = separate(source, language);
  reviewLines(source, code, comments, language, note);
  if (language === 'python') reviewIndentation(code, note);
  else if (language !== 'unknown') reviewBraces(code, language, note);

  // Of too many findings the serious ones are kept, in the order of lines.
  const rank = (finding: ReviewFinding) => ['error', 'warning', 'info'].indexOf(finding.severity);
  const told = findings
    .sort((a, b) => rank(a) - rank(b) || a.line - b.line)
    .slice(0, 200)
    .sort((a, b) => a.line - b.line || rank(a) - rank(b));
  const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  const name = typeof filename === 'string' && filename !== '' ? filename.slice(0, 200) : 'The file';
  const counted = `${count('error')} errors, ${count('warning')} warnings, ${count('info')} notes`;
  const unknown = language === 'unknown' ? ' Its language is unknown: only general rules were applied.' : '';
  return {
    ok: true,
    language,
    summary: `${name}, ${lines} lines: ${counted}.${unknown}`,
    lines,
    findings: told,
    findings_omitted: findings.length - told.length,
  };
}
