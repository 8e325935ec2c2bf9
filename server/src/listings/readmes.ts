import { createHash } from 'node:crypto';
import type { Db } from '../database/connection.js';
import { createMarkdownRenderer, type MarkdownRenderer } from '../platform/markdown/render-markdown.js';

/** The READMEs of listings as HTML. */
export interface Readmes {
  /** Safe HTML of a listing's README, which is rendered once; undefined while too many others wait for that. */
  htmlOf(listingId: string, markdown: string): Promise<string | undefined>;
}

/** Texts that wait to be rendered; the page of a further one is shown without it. */
const MOST_WAITING = 20;
/** Changes with the renderer, so that kept HTML is made anew. */
const RENDERER = '1';

export function createReadmes(db: Db, renderer: MarkdownRenderer = createMarkdownRenderer()): Readmes {
  /** By listing and digest: visits at the same time wait for one rendering. */
  const rendering = new Map<string, Promise<string>>();

  const renderAndKeep = async (listingId: string, sha256: Buffer, markdown: string) => {
    const html = await renderer.render(markdown);
    await db
      .insertInto('listing_readmes')
      .values({ listing_id: listingId, sha256, html })
      .onConflict((conflict) => conflict.column('listing_id').doUpdateSet({ sha256, html }))
      .execute();
    return html;
  };

  return {
    async htmlOf(listingId, markdown) {
      const sha256 = createHash('sha256').update(RENDERER).update(markdown).digest();
      const kept = await db
        .selectFrom('listing_readmes')
        .select('html')
        .where('listing_id', '=', listingId)
        .where('sha256', '=', sha256)
        .executeTakeFirst();
      if (kept) return kept.html;
      const key = `${listingId} ${sha256.toString('hex')}`;
      const present = rendering.get(key);
      if (present) return present;
      if (renderer.waiting >= MOST_WAITING) return undefined;
      const rendered = renderAndKeep(listingId, sha256, markdown).finally(() => rendering.delete(key));
      rendering.set(key, rendered);
      return rendered;
    },
  };
}
