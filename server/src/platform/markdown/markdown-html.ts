import MarkdownIt from 'markdown-it';
import { cleanText, withoutHidden } from '../clean-text.js';

type Token = ReturnType<MarkdownIt['parse']>[number];

/** Longest HTML of a text: an empty table of many columns is far longer than its Markdown. */
const MOST_CHARACTERS = 200_000;

/** The elements without attributes, by the tag of their token. Headings go below the page's own. */
const ELEMENTS: Readonly<Record<string, string>> = {
  h1: 'h3',
  h2: 'h4',
  h3: 'h5',
  h4: 'h6',
  h5: 'h6',
  h6: 'h6',
  ...Object.fromEntries(
    ['p', 'blockquote', 'ul', 'ol', 'li', 'thead', 'tbody', 'tr', 'th', 'td', 'em', 'strong', 's'].map(
      (tag) => [tag, tag],
    ),
  ),
};
const LINKED = new Set(['http:', 'https:', 'mailto:']);

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false });

/**
 * Renders a stranger's Markdown (CommonMark with tables and strikethrough) as HTML of a few elements, without any HTML
 * of the text. Links lead to http, https and mailto alone. An image is a link to it, with its alternative text.
 *
 * @throws Error when the HTML would be too long
 */
export function markdownHtml(markdown: string): string {
  // A tab is four columns, and the cleaner makes it one.
  const html = new Renderer().blocks(parser.parse(cleanText(markdown.replaceAll('\t', '    ')), {}));
  if (html.length > MOST_CHARACTERS) throw new Error('The HTML of the text is too long.');
  return html;
}

/** Shows the Markdown source as text, where it cannot be rendered. */
export function plainHtml(markdown: string): string {
  return `<p class="words">${escaped(cleanText(markdown))}</p>`;
}

/** Makes elements of tokens. A token that it does not know gives nothing. */
class Renderer {
  #tables = 0;
  /** Whether each open link of the Markdown is one of the HTML. */
  readonly #links: boolean[] = [];

  blocks(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#html(token)).join('');
  }

  #html(token: Token): string {
    const { type, tag, content, nesting, hidden } = token;
    switch (type) {
      case 'inline':
        return this.blocks(token.children ?? []);
      case 'text':
        return escaped(content);
      case 'softbreak':
        return '\n';
      case 'hardbreak':
        return '<br>';
      case 'hr':
        return '<hr>';
      case 'code_inline':
        return `<code>${escaped(content)}</code>`;
      case 'fence':
      case 'code_block':
        return `<pre><code>${escaped(content)}</code></pre>`;
      case 'link_open':
        return this.#openLink(token);
      case 'link_close':
        return this.#links.pop() === true ? '</a>' : '';
      case 'image':
        return this.#image(token);
      case 'table_open':
        this.#tables += 1;
        return `<div class="scroll" tabindex="0" role="region" aria-label="Table ${this.#tables}"><table>`;
      case 'table_close':
        return '</table></div>';
      default: {
        const element = hidden || !Object.hasOwn(ELEMENTS, tag) ? undefined : ELEMENTS[tag];
        if (element === undefined || nesting === 0) return '';
        return nesting === 1 ? `<${element}${startOf(token)}>` : `</${element}>`;
      }
    }
  }

  #openLink(token: Token): string {
    const opened = linkTo(token.attrGet('href'));
    this.#links.push(opened !== undefined);
    return opened ?? '';
  }

  /** The page shows no images of strangers: they would tell their servers of each visit. */
  #image(token: Token): string {
    const words = escaped(token.content.trim() || 'Image');
    const opened = this.#links.includes(true) ? undefined : linkTo(token.attrGet('src'));
    return opened === undefined ? words : `${opened}${words}</a>`;
  }
}

/** The tag of a link; undefined for an address that a page does not lead to. */
function linkTo(address: string | null): string | undefined {
  if (address === null || !URL.canParse(address)) return undefined;
  const { protocol, username, password } = new URL(address);
  // A name before the host is there to deceive.
  if (!LINKED.has(protocol) || username !== '' || password !== '') return undefined;
  return `<a href="${escaped(address)}" rel="nofollow noopener ugc">`;
}

/** The number of the first item of a list, where it is another than 1. */
function startOf(token: Token): string {
  // Typed as a text, and a number at run time.
  const start: unknown = token.attrGet('start');
  return token.tag === 'ol' && /^\d{1,9}$/.test(String(start)) ? ` start="${String(start)}"` : '';
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Also without hidden characters, which a text may hold as entities. */
function escaped(text: string): string {
  return withoutHidden(text).replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
