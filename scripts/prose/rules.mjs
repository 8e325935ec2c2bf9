/**
 * The rules of the project's prose: comments, documents, error texts and test titles. `limit` is the largest number of
 * findings that the tree may have. A change may lower it, and does not raise it.
 */

/** Words of a sentence; a longer one is two sentences. */
export const WORDS_PER_SENTENCE = 25;

/** Clauses that take the place of a noun with a name, and words that read twice. */
const INDIRECT =
  /\b(what (is|are|has|have|was|were|it|they|he|she|the|an?|one|must|can|may|does|did|no|that|its|only)|begun|that of|those (that|of|which|whose)|stands?(?!-)|of (its|their) own|(is|are|was) over|until (it|they) (is|are) over)\b/i;

/** Words that have a term in docs/glossary.md. */
const TERMS = { adoption: 'equal call', catalogue: 'listings', impatience: 'wait' };

/** Rules on a line of a file. */
export const LINE_RULES = [
  {
    name: 'indirect',
    limit: 51,
    find: (line) => INDIRECT.exec(line)?.[0],
    advice: (found) => `'${found}': name the thing by a noun, or make it the subject.`,
  },
  {
    name: 'actor',
    // The system's user `nobody` is a name.
    limit: 2,
    find: (line) => /\b(whoever|somebody|nobody|whatever it)\b/i.exec(line)?.[0],
    advice: (found) => `'${found}': name the caller, the renter, the operator or the attacker.`,
  },
  {
    name: 'term',
    limit: 0,
    find: (line) => new RegExp(`\\b(${Object.keys(TERMS).join('|')})\\b`, 'i').exec(line)?.[0],
    advice: (found) => `'${found}': write ${TERMS[found.toLowerCase()]}.`,
  },
];

/** The rule on a sentence. */
export const SENTENCE_RULE = {
  name: 'long',
  limit: 8,
  advice: (words) => `${words} words in a sentence, ${WORDS_PER_SENTENCE} at most.`,
};
