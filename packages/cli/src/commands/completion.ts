import type { Command } from 'commander';
import { UsageError } from '../errors.js';

/** The shells with a completion. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** The completions after a command: `path` has the words before the cursor, `words` the possible next words. */
interface Completions {
  readonly path: readonly string[];
  readonly words: readonly string[];
}

/** Writes a shell's completion script for all commands and options. @throws UsageError for other shells. */
export function completionScript(shell: string, program: Command): string {
  const all = completionsOf(program, []);
  switch (shell as (typeof SHELLS)[number]) {
    case 'bash':
      return bash(all);
    case 'zsh':
      return zsh(all);
    case 'fish':
      return fish(all);
    default:
      throw new UsageError(`There is no completion for ${shell}; there is one for ${SHELLS.join(', ')}.`);
  }
}

function completionsOf(command: Command, path: readonly string[]): Completions[] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const words = [...command.commands.map((child) => child.name()), ...choices, ...options, '--help'];
  return [
    { path, words },
    ...command.commands.flatMap((child) => completionsOf(child, [...path, child.name()])),
  ];
}

/** Deeper commands first: the script takes the first path that fits. */
function deepestFirst(all: readonly Completions[]): { line: string; words: string }[] {
  return [...all]
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ path, words }) => ({
      line: path.map((word) => `${word} `).join(''),
      words: words.join(' '),
    }));
}

function bash(all: readonly Completions[]): string {
  const cases = deepestFirst(all).map(({ line, words }) => `    "${line}"*) words='${words}' ;;`);
  return [
    '_agent_rental() {',
    '  local line="${COMP_WORDS[*]:1:COMP_CWORD-1} " words',
    '  [ "$line" = " " ] && line=""',
    '  case "$line" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -F _agent_rental agent-rental',
  ].join('\n');
}

function zsh(all: readonly Completions[]): string {
  const cases = deepestFirst(all).map(({ line, words }) => `    "${line}"*) fitting=(${words}) ;;`);
  return [
    // A ~/.zshrc may start zsh's own completion later, or never.
    '(( $+functions[compdef] )) || { autoload -U compinit && compinit -i }',
    '_agent_rental() {',
    '  local line="${(j: :)words[2,CURRENT-1]} "',
    '  local -a fitting',
    '  case "${line# }" in',
    ...cases,
    '  esac',
    '  compadd -a fitting || _files',
    '}',
    'compdef _agent_rental agent-rental',
  ].join('\n');
}

/** Fish completes options and words separately, and files for a command without words. */
function fish(all: readonly Completions[]): string {
  const cases = deepestFirst(all).map(({ line }) => `    case '${line}*'; echo '/${line.trimEnd()}'`);
  const rules = all.flatMap(({ path, words }) => {
    const rule = `complete -c agent-rental -n "test (__agent_rental_path) = '/${path.join(' ')}'"`;
    const options = words.filter((word) => word.startsWith('--'));
    const others = words.filter((word) => !word.startsWith('--'));
    return [
      ...(others.length > 0 ? [`${rule} -f -a '${others.join(' ')}'`] : []),
      ...options.map((option) => `${rule} -l ${option.slice('--'.length)}`),
    ];
  });
  return [
    'function __agent_rental_path',
    '  set -l tokens (commandline -opc)',
    '  set -e tokens[1]',
    `  switch (string join -- ' ' $tokens)' '`,
    ...cases,
    '  end',
    'end',
    ...rules,
  ].join('\n');
}
