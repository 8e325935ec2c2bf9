import { performance } from 'node:perf_hooks';
import { afterAll, describe, expect, it } from 'vitest';
import { markdownHtml, plainHtml } from './markdown-html.js';
import { createMarkdownRenderer } from './render-markdown.js';

const BYTES = 20_480;
const filled = (text: string) => text.repeat(Math.ceil(BYTES / text.length)).slice(0, BYTES);

/** All that the renderer may write, with the attributes of each element. */
const ALLOWED =
  /<\/?(?:h[3-6]|p|blockquote|ul|li|thead|tbody|tr|th|td|em|strong|s|table|code|pre|br|hr)>|<ol(?: start="\d{1,9}")?>|<\/(?:ol|a|div)>|<a href="(?:https?:\/\/|mailto:)[^"<>]*" rel="nofollow noopener ugc">|<div class="scroll" tabindex="0" role="region" aria-label="Table \d+">|<p class="words">/g;

function expectSafe(html: string): void {
  const text = html.replaceAll(ALLOWED, '');
  expect(text).not.toMatch(/[<>"]/);
  // Each remaining `&` begins an entity of ours.
  expect(text).not.toMatch(/&(?!(?:amp|lt|gt|quot);)/);
  expect(html).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\ufeff]/u);
}

const HOSTILE: Readonly<Record<string, string>> = {
  script: '<script>alert(1)</script>\n\ntext <img src=x onerror=alert(1)> <b onclick="x">b</b>',
  'a closing element': '</div></main><style>*{display:none}</style><!-- <![CDATA[ <?php ?>',
  'a script in code': '```html "><script>\n<script>alert(1)</script>\n```\n`<script>`',
  'javascript links':
    '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](<java\nscript:x>) [d](&#106;avascript:x) <javascript:alert(1)> [e]\n\n[e]: javascript:alert(1)',
  'data addresses':
    '[a](data:text/html,<script>1</script>) ![b](data:image/svg+xml;base64,PHN2Zz4=) ![c](data:image/png;base64,AA)',
  'other schemes':
    '[a](vbscript:x) [b](file:///etc/passwd) [c](//evil.example) [d](/dashboard/keys) [e](blob:x)',
  'names before a host': '[a](https://market.example@evil.example/)',
  svg: '<svg onload=alert(1)><use href="#x"/></svg> ![x](https://a.example/x.svg)',
  'attributes by quotes': '[a](https://a.example/"onmouseover="alert(1) "title\\" onclick=x")',
  'attributes in an image': '![a" onerror="alert(1)](https://a.example/a.png "t")',
  'an image in a link': '[![words](https://a.example/a.png)](https://b.example)',
  'hidden characters': 'a\u202egpj.exe\u2066 \u200b\ufeff &#x202e;&#8238;&#x2066;&ZeroWidthSpace; \0 &#0;',
  'hidden characters in a link': '[a&#x202e;b](https://a.example/&#x202e;)',
  'a long word': 'w'.repeat(10_000),
  'a table with styles': '|a|b|c|\n|:-|:-:|-:|\n|<b>|`|`|[x](javascript:x)|',
  'a reference to a prototype': '[__proto__] [constructor]\n\n[__proto__]: https://a.example',
};
const LONG: Readonly<Record<string, string>> = {
  brackets: '['.repeat(BYTES),
  'links in links': '['.repeat(BYTES / 2) + ']('.repeat(BYTES / 4),
  'open links': filled('[a]('),
  'open images': filled('!['),
  quotes: filled('> '),
  'lines of quotes': filled(`${'>'.repeat(100)}- a\n`),
  emphasis: filled('*a_ '),
  'balanced emphasis': `${'*'.repeat(BYTES / 2)}a${'*'.repeat(BYTES / 2 - 1)}`,
  strikethrough: filled('~~a~'),
  lists: filled('- '),
  'nested lists': Array.from({ length: 190 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n'),
  'an empty table': `|${'a|'.repeat(1_500)}\n|${'-|'.repeat(1_500)}\n${'a\n'.repeat(5_000)}`,
  'a wide table': `${'|a'.repeat(3_000)}\n${'|-'.repeat(3_000)}\n${'|b'.repeat(2_000)}`,
  'open HTML': filled('<a '),
  'open CDATA': filled('<![CDATA['),
  references: filled('[a]: /u\n'),
  entities: filled('&#1234;'),
  headings: filled('a\n=\n'),
  'back quotes': Array.from({ length: 200 }, (_, count) => '`'.repeat(count)).join(' '),
  parentheses: `[a](${'('.repeat(BYTES - 4)}`,
  'wide characters': filled('\u{1f600}*').slice(0, 9_000),
};

describe('the Markdown of a stranger', () => {
  it('becomes the elements of Markdown, below the headings of the page [LST-46]', () => {
    const markdown =
      '# One\n## Two\n###### Six\nA *b* **c** ~~d~~ `e` [f](https://a.example/?q=1&r=2 "t")\n\n> q\n\n3. x\n4. y\n\n' +
      '- one\n- two\n\n---\n\n|a|b|\n|-|-|\n|1|2|\n\n    code\n\n![alt](https://a.example/i.png) ![only]()';
    const html = markdownHtml(markdown);
    expect(html).toBe(
      '<h3>One</h3><h4>Two</h4><h6>Six</h6><p>A <em>b</em> <strong>c</strong> <s>d</s> <code>e</code> ' +
        '<a href="https://a.example/?q=1&amp;r=2" rel="nofollow noopener ugc">f</a></p><blockquote><p>q</p></blockquote>' +
        '<ol start="3"><li>x</li><li>y</li></ol><ul><li>one</li><li>two</li></ul><hr>' +
        '<div class="scroll" tabindex="0" role="region" aria-label="Table 1"><table><thead><tr><th>a</th><th>b</th></tr></thead>' +
        '<tbody><tr><td>1</td><td>2</td></tr></tbody></table></div><pre><code>code\n</code></pre>' +
        '<p><a href="https://a.example/i.png" rel="nofollow noopener ugc">alt</a> only</p>',
    );
    expectSafe(html);
  });

  it.each(Object.entries(HOSTILE))('with %s stays text [LST-46]', (_, markdown) => {
    const html = markdownHtml(markdown);
    expectSafe(html);
    expectSafe(plainHtml(markdown));
    expect(html).not.toMatch(/href="[^"]*(?:javascript|data:|evil|keys)/i);
  });

  it('shows a script as its text, and no link inside a link [LST-46]', () => {
    expect(markdownHtml(HOSTILE['script'] ?? '')).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(markdownHtml(HOSTILE['an image in a link'] ?? '')).toBe(
      '<p><a href="https://b.example" rel="nofollow noopener ugc">words</a></p>',
    );
  });

  const renderer = createMarkdownRenderer();
  afterAll(() => renderer.close());

  it.each(Object.entries(LONG))('with 20 KB of %s holds no event loop [LST-46]', async (_, markdown) => {
    let html = '';
    // The time in which the loop worked, in all: the least of three, because a busy machine stops it anywhere.
    const worked: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      const before = performance.eventLoopUtilization();
      html = await renderer.render(markdown);
      worked.push(performance.eventLoopUtilization(before).active);
    }
    expect(Math.min(...worked)).toBeLessThan(50);
    expectSafe(html);
    expect(html.length).toBeLessThan(200_100);
  });

  it('that takes too long is shown as it is typed, and the next one is rendered [LST-46]', async () => {
    const hurried = createMarkdownRenderer(1);
    expect(await hurried.render(LONG['an empty table'] ?? '')).toMatch(/^<p class="words">\|a\|a/);
    expect(await renderer.render('*a*')).toBe('<p><em>a</em></p>');
    await hurried.close();
  });
});
