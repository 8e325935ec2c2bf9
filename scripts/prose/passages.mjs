import { marked } from 'marked';
import ts from 'typescript';

/**
 * Prose of a file, as `{ line, text }` with its first line: paragraphs of Markdown, comments of other files, and strings of
 * TypeScript that are sentences. Code in backticks counts as one word, which may begin a sentence.
 */
export function passagesOf(path, text) {
  if (path.endsWith('.md')) return inMarkdown(text);
  if (/\.(tsx?|mjs|js)$/.test(path)) return inTypeScript(path, text);
  return inComments(text, path.endsWith('.sql') ? '--' : path.endsWith('.rs') ? '///?!?' : '#');
}

function inMarkdown(text, firstLine = 1) {
  const passages = [];
  let line = firstLine;
  const walk = (token, at) => {
    if (token.type === 'code' || token.type === 'html') return;
    if (token.type === 'table') {
      for (const cell of [...token.header, ...token.rows.flat()])
        passages.push({ line: at, text: inline(cell) });
    } else if (token.type === 'list') {
      let itemAt = at;
      for (const item of token.items) {
        for (const child of item.tokens) walk(child, itemAt);
        itemAt += newlines(item.raw);
      }
    } else if (token.type === 'blockquote') {
      for (const child of token.tokens) walk(child, at);
    } else if (token.tokens !== undefined) passages.push({ line: at, text: inline(token) });
  };
  for (const token of marked.lexer(text)) {
    walk(token, line);
    line += newlines(token.raw);
  }
  return passages;
}

function inline({ tokens }) {
  return tokens
    .map((token) => (token.type === 'codespan' ? 'Code' : token.tokens ? inline(token) : (token.text ?? ' ')))
    .join('');
}

const newlines = (text) => text.split('\n').length - 1;

function inTypeScript(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  const passages = [];
  const seen = new Set();
  let lineComment;
  const comment = ({ pos, end, kind }) => {
    if (seen.has(pos)) return;
    seen.add(pos);
    const raw = text.slice(pos, end);
    if (kind === ts.SyntaxKind.SingleLineCommentTrivia) {
      const line = lineOf(pos);
      const words = raw.replace(/^\/\/+ ?/, '');
      if (lineComment?.next === line) lineComment.passage.text += `\n${words}`;
      else passages.push((lineComment = { passage: { line, text: words } }).passage);
      lineComment.next = line + 1;
      return;
    }
    const body = raw
      .replace(/^\/\*+|\*+\/$/g, '')
      .replaceAll(/^[ \t]*\* ?/gm, '')
      .replaceAll(/\{@link (\w+)[^}]*\}/g, '$1')
      .replaceAll(/^@(param|returns|throws|template)\b( \w+)?/gm, '\n');
    passages.push(...inMarkdown(body, lineOf(pos)));
  };
  const walk = (node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) comment(range);
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) comment(range);
    const words = stringOf(node);
    // Strings of several lines are code: SQL, scripts.
    if (words !== undefined && !words.includes('\n') && /^[A-Za-z].*( \S+){4}/.test(words)) {
      passages.push(...inMarkdown(words, lineOf(node.getStart())));
    }
    // Tokens too, since a comment may precede a bracket.
    for (const child of node.getChildren(file)) walk(child);
  };
  walk(file);
  return passages;
}

/** Text of a string or a template; a value in it counts as one word. Texts joined by `+` are one. */
function stringOf(node) {
  if (
    ts.isBinaryExpression(node.parent ?? node) &&
    node.parent?.operatorToken.kind === ts.SyntaxKind.PlusToken
  ) {
    return undefined;
  }
  return joined(node);
}

function joined(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `value${literal.text}`).join('');
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [joined(node.left), joined(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}

function inComments(text, mark) {
  const pattern = new RegExp(`^\\s*(?:${mark}) ?(?!!)(.*)$`);
  const passages = [];
  let open;
  for (const [index, line] of text.split('\n').entries()) {
    const words = pattern.exec(line)?.[1];
    if (words === undefined || words.trim() === '') open = undefined;
    else if (open) open.text += `\n${words}`;
    else passages.push((open = { line: index + 1, text: words }));
  }
  return passages.flatMap(({ line, text: words }) => inMarkdown(words, line));
}
