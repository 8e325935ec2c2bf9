/** A skill: its document, `SKILL.md`, and the two fields of its frontmatter. */
export interface Skill {
  /** In kebab case, equal to the last folder of its address. */
  readonly name: string;
  /** Its purpose, on one line. */
  readonly description: string;
  readonly document: string;
}

/** Most characters of a description (agentskills.io). */
export const MAX_DESCRIPTION = 1_024;

/** Writes the document of a skill. JSON text is YAML, too, so no text can leave its field. */
export function writeSkill(name: string, description: string, body: string): Skill {
  const document = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body.trim()}\n`;
  return { name, description, document };
}
