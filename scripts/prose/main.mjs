/**
 * `npm run check -- prose`: long sentences, indirect clauses and words with another term, in every text of the project.
 * `node scripts/prose/main.mjs <path> ...` lists the findings of some files or folders.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import retextEnglish from 'retext-english';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { VFile } from 'vfile';
import { reporter } from 'vfile-reporter';
import { root } from '../build.mjs';
import { passagesOf } from './passages.mjs';
import { LINE_RULES, SENTENCE_RULE, WORDS_PER_SENTENCE } from './rules.mjs';

const TEXTS = /\.(md|tsx?|mjs|js|sql|rs|sh|ya?ml|toml|py)$/;
/** Written by tools, or by others. */
const NOT_OURS =
  /(^|\/)(generated|vendor|public-schemas\/schemas)\/|\.gen\.|package-lock|^scripts\/prose\/rules/;

const english = unified().use(retextEnglish);
const RULES = [...LINE_RULES, SENTENCE_RULE];
const counts = new Map(RULES.map(({ name }) => [name, 0]));
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => TEXTS.test(path) && !NOT_OURS.test(path))
  .map(check);

function check(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const file = new VFile({ path });
  const report = (rule, found, line) => {
    counts.set(rule.name, counts.get(rule.name) + 1);
    file.message(rule.advice(found), { place: { line, column: 1 }, ruleId: rule.name, source: 'prose' });
  };
  for (const [index, line] of text.split('\n').entries()) {
    for (const rule of LINE_RULES) {
      const found = rule.find(line);
      if (found !== undefined) report(rule, found, index + 1);
    }
  }
  for (const passage of passagesOf(path, text)) {
    visit(english.parse(passage.text), 'SentenceNode', (sentence) => {
      let words = 0;
      visit(sentence, 'WordNode', () => void words++);
      if (words > WORDS_PER_SENTENCE) {
        report(SENTENCE_RULE, words, passage.line + (sentence.position?.start.line ?? 1) - 1);
      }
    });
  }
  return file;
}

const folders = process.argv.slice(2);
const tooMany = RULES.filter(({ name, limit }) => counts.get(name) > limit);
if (tooMany.length > 0 || folders.length > 0) {
  const shown = files.filter(({ path, messages }) => messages.length > 0 && isIn(path));
  process.stdout.write(`${reporter(shown)}\n`);
}
for (const { name, limit } of RULES) {
  process.stdout.write(`${String(counts.get(name)).padStart(6)} of at most ${limit}  ${name}\n`);
}
process.exitCode = tooMany.length > 0 ? 1 : 0;

function isIn(path) {
  return folders.length === 0 || folders.some((folder) => path.startsWith(folder));
}
