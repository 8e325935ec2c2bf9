import { createHash } from 'node:crypto';

/** The one style sheet: tokens for light and dark, then the elements of the pages. Each page holds it. */
export const STYLES = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--ground:#fff;--raised:#f6f8fa;--accent:#0b57a4;--on-accent:#fff;--warn:#7a4100;--warn-ground:#fff4e0}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#a0abb7;--line:#3d444d;--ground:#0d1117;--raised:#161b22;--accent:#79b8ff;--on-accent:#06203c;--warn:#ffcf87;--warn-ground:#33240a}}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.55 system-ui,sans-serif}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.bar,main,footer{max-width:62rem;margin:0 auto;padding:1rem}
.top{border-bottom:1px solid var(--line)}
.bar{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:baseline}
.bar a{text-decoration:none}.bar a[aria-current]{text-decoration:underline}.bar .name{font-weight:700;color:var(--ink)}
footer{border-top:1px solid var(--line);color:var(--soft);margin-top:2rem}
h1,h2,h3,#verified li{overflow-wrap:anywhere}h3{font-size:1.05rem}.links{display:flex;flex-wrap:wrap;gap:.5rem 1.2rem}h1{font-size:1.7rem;line-height:1.25;margin:.5rem 0}h2{font-size:1.2rem;margin:1.8rem 0 .5rem}
.soft{color:var(--soft)}
[role=status],code{overflow-wrap:anywhere}
.words{overflow-wrap:anywhere;white-space:pre-line;unicode-bidi:isolate}
blockquote{margin:.5rem 0;padding:.5rem 1rem;border-left:4px solid var(--line);overflow-wrap:anywhere}
form{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end;margin:1rem 0}
label{display:grid;grid-template-columns:minmax(0,1fr);gap:.2rem;font-size:.9rem;overflow-wrap:anywhere}
label.wide{flex:1 1 16rem}
input,select,button,.button{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--soft);border-radius:.4rem;padding:.45rem .7rem;min-height:2.6rem;max-width:100%}
button,.button{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600;text-decoration:none;display:inline-block;cursor:pointer}
.row:not([hidden]){display:flex;flex-wrap:wrap;gap:.75rem}.row button{flex:1 1 12rem}
button.plain{background:var(--ground);color:var(--ink);border-color:var(--soft)}
button:disabled{opacity:.6;cursor:default}
textarea{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--soft);border-radius:.4rem;padding:.45rem .7rem;width:100%;min-height:4rem}
form.stack{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem}form.stack button{justify-self:start}
.cards{list-style:none;margin:0;padding:0;display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(18rem,100%),1fr))}
.card{border:1px solid var(--line);border-radius:.6rem;padding:1rem;background:var(--raised)}
.card h2,.card h3{margin:0 0 .3rem;font-size:1.05rem}
.facts{display:grid;grid-template-columns:fit-content(40%) minmax(0,1fr);gap:.3rem 1rem;margin:1rem 0}
.facts dt{color:var(--soft);overflow-wrap:anywhere}.facts dd{margin:0;overflow-wrap:anywhere}
.note{background:var(--warn-ground);color:var(--warn);border-radius:.4rem;padding:.6rem .9rem}
.costs{border-collapse:collapse;margin:1rem 0;max-width:100%}.costs caption{text-align:left;color:var(--soft)}
.costs th,.costs td{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line);font-weight:400}.costs :is(th,tfoot td){overflow-wrap:anywhere}.costs tfoot td{color:var(--soft);border:0}
pre{background:var(--raised);border:1px solid var(--line);border-radius:.4rem;padding:.8rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
form.tall,.tall{display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem;align-items:start}
fieldset{border:1px solid var(--line);border-radius:.6rem;margin:0;padding:1rem;min-width:0;display:grid;grid-template-columns:minmax(0,1fr);gap:.9rem}
.tall label:not(.check){grid-template-columns:minmax(0,1fr)}.tall textarea,.tall [type=url],.tall [type=password],.tall input:not([type]){width:100%}
legend{font-weight:600;padding:0 .4rem}
label.check{display:flex;gap:.6rem;align-items:center}label.check input{min-height:0;flex:none}
[type=checkbox],[type=radio]{width:1.15rem;height:1.15rem;min-height:0;margin:0;padding:0;accent-color:var(--accent)}
.wallets{display:flex;flex-wrap:wrap;gap:.5rem .9rem;align-items:center}
.code{font-family:ui-monospace,monospace;font-size:.9rem}
.said{position:sticky;top:0;margin:0;background:var(--ground);z-index:1}.said:not(:empty){padding:.5rem 0}
.wrong{color:var(--warn);overflow-wrap:anywhere}ul.wrong{margin:0}ul.wrong:empty{display:none}
[aria-invalid=true]{border-color:var(--warn);border-width:2px}
.diff{--add:#e2f5e5;--del:#fde8e6;padding:.8rem 0}@media(prefers-color-scheme:dark){.diff{--add:#12301a;--del:#3a1518}}
.diff>*{display:block;padding:0 .8rem;text-decoration:none}.diff ins{background:var(--add)}.diff del{background:var(--del)}.diff .soft{padding-top:.2rem;padding-bottom:.2rem}
figure{margin:1.2rem 0}figcaption{font-weight:600}
.chart{display:block;width:100%;height:8rem;border-bottom:1px solid var(--soft);margin:.3rem 0}
.ok{fill:var(--accent);color:var(--accent)}.bad{fill:var(--warn);color:var(--warn)}.dim{fill:var(--soft);color:var(--soft)}
.table{overflow-x:auto}.table table{border-collapse:collapse;font-size:.9rem}.table th,.table td{border:1px solid var(--line);padding:.3rem .6rem;text-align:end}.table th:first-child{text-align:start}
nav.pages{display:flex;gap:1.5rem;margin-top:1rem}
@media(max-width:32rem){.costs{font-size:.8rem}.costs [scope=row]{min-width:4.2rem}.costs th,.costs td{padding-right:.4rem}.facts{grid-template-columns:minmax(0,1fr);gap:0}.facts dd{margin-bottom:.6rem}}
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLES).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
];

/**
 * The rights of a page: it may show its own style sheet, and send its form to this service. It loads, runs and frames
 * nothing.
 */
export const CONTENT_SECURITY_POLICY = POLICY.join('; ');

/** The same of a page that runs the one script with this nonce, which calls this service alone. */
export function policyWithScript(nonce: string): string {
  // Not 'self': uploaded content is served from here, too.
  return [...POLICY, `script-src 'nonce-${nonce}'`, "connect-src 'self'"].join('; ');
}
