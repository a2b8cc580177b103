import { type Language, words } from './words.ts'

type Words = (typeof words)[Language]

/** The page around the widget. Its script reads its settings from the attributes of `main`. */
export function demoPage(language: Language, widgetId: string): string {
  const w = words[language]
  const attributes = {
    'data-widget-id': widgetId,
    'data-channels': JSON.stringify(w.channels),
    'data-not-built': w.notBuilt,
    'data-wrong-number': w.wrongNumber,
  }
  return `<!doctype html>
<html lang="${language}">
${head(w)}
<body>
${header(language, w)}
<main ${attributesOf(attributes)}>
${offer(w)}
${behind(w)}
</main>
</body>
</html>
`
}

const head = (w: Words) => `<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(w.title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/widget/demo/page.css">
<script src="/widget/VerifyWidget.umd.min.js" defer></script>
<script src="/widget/demo/page.js" defer></script>
</head>`

const header = (language: Language, w: Words) => `<header>
<p class="note">${escaped(w.note)}</p>
<div class="bar">
<p class="brand">${anchor}${escaped(w.brand)}</p>
<nav>
<a href="?lang=${language === 'en' ? 'ru' : 'en'}" lang="${language === 'en' ? 'ru' : 'en'}">${escaped(w.otherLanguage)}</a>
<button type="button" id="theme">${escaped(w.theme)}</button>
</nav>
</div>
</header>`

const offer = (w: Words) => `<section class="offer">
<div>
<h1>${escaped(w.heading)}</h1>
<p class="lead">${escaped(w.lead)}</p>
<ol class="steps">
${w.steps.map((step, index) => `<li${index === 0 ? ' aria-current="step"' : ''}>${escaped(step)}</li>`).join('\n')}
</ol>
</div>
<div class="side">
<noscript><p>${escaped(w.noScript)}</p></noscript>
<form id="number-form" novalidate>
<label for="number">${escaped(w.number)}</label>
<input id="number" type="tel" inputmode="tel" autocomplete="tel" maxlength="24" aria-describedby="hint wrong">
<p id="wrong" role="alert"></p>
<button type="submit" class="submit">${escaped(w.next)}</button>
<p id="hint" class="hint">${escaped(w.hint)}</p>
</form>
<div id="verify"></div>
<p id="done" class="done" role="status" hidden><b>${escaped(w.done)}</b><span>${escaped(w.doneText)} <span id="confirmed"></span>.</span></p>
<button type="button" id="other" class="quiet" hidden>${escaped(w.otherNumber)}</button>
</div>
</section>`

const behind = (w: Words) => `<section class="behind">
<h2>${escaped(w.behind)}</h2>
<ol class="flow">
${w.flow.map(step => `<li>${escaped(step)}</li>`).join('\n')}
</ol>
<div class="panels">
<article>
<h3>${escaped(w.phone)}</h3>
<p class="about">${escaped(w.phoneText)}</p>
<ul id="phone" class="entries" aria-live="polite"></ul>
<p class="empty">${escaped(w.phoneEmpty)}</p>
</article>
<article>
<h3>${escaped(w.server)}</h3>
<p class="about">${escaped(w.serverText)}</p>
<ol id="calls" class="entries" aria-live="polite"></ol>
<p class="empty">${escaped(w.serverEmpty)}</p>
</article>
</div>
<p class="more"><a href="/docs">${escaped(w.more)}</a></p>
</section>`

const anchor =
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 7v13M12 20c-4.5 0-8-2.5-8-6.5l2.5 1.5M12 20c4.5 0 8-2.5 8-6.5L17.5 15M8.5 10.5h7"/><circle cx="12" cy="5" r="2"/></svg>'

const attributesOf = (attributes: Record<string, string>) =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(' ')

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
