/** Order of the sections, by the size of a change. */
const SIZES = ['major', 'minor', 'patch'];
const TITLES = { major: 'Breaking changes', minor: 'Added', patch: 'Fixed' };

/** Reads a change in the form of Changesets: the greatest size that it names for a package, and its text. */
export function readChange(content) {
  const [, header, text] = /^---\n([\s\S]*?)---\n([\s\S]*)$/.exec(content) ?? [];
  const size = SIZES.find((name) => new RegExp(`: *['"]?${name}['"]? *$`, 'm').test(header ?? ''));
  if (size === undefined || text.trim() === '') throw new Error(`Not a change: ${content.slice(0, 80)}`);
  return { size, text: text.trim() };
}

/** The changelog with the section of a release before the earlier ones. */
export function addRelease(changelog, { version, date, changes }) {
  const sections = SIZES.flatMap((size) => {
    const texts = changes.filter((change) => change.size === size).map(({ text }) => text);
    const items = texts.map((text) => `- ${text.replaceAll('\n', '\n  ')}`);
    return items.length === 0 ? [] : [`### ${TITLES[size]}\n\n${items.join('\n')}\n`];
  });
  const release = `## ${version} (${date})\n\n${sections.join('\n')}`;
  const at = changelog.indexOf('\n## ');
  return at < 0
    ? `${changelog.trimEnd()}\n\n${release}`
    : `${changelog.slice(0, at + 1)}${release}\n${changelog.slice(at + 1)}`;
}
