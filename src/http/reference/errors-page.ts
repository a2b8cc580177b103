import { answerErrors, type ErrorEntry, messageErrors, widgetErrors } from './errors.ts'
import { icon } from './page.ts'

/** `/docs/errors`: every code with its meaning, its cause and what to do, each under an anchor of its own. */
export const errorsPage = () => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Error codes of Tidings</title>
  <link rel="icon" href="${icon}">
  <link rel="stylesheet" href="/docs/docs.css">
</head>
<body class="errors">
  <header>
    <a href="/docs">API reference</a>
    <h1>Error codes</h1>
    <p>Every answer that is not a success has the body <code>{"error": {"code", "msg"}}</code>: the code is one of the
      first list, and <code>msg</code> describes the error in a sentence. A message that failed carries a code of the
      second list as <code>errorCode</code>, in callbacks as <code>error_code</code>. The verification widget shows
      visitors a number of the third list.</p>
    <nav aria-label="Codes">
      <p><a href="#answers">In answers</a> ${links(answerErrors)}</p>
      <p><a href="#messages">Of messages</a> ${links(messageErrors)}</p>
      <p><a href="#widget">Of the widget</a> ${links(widgetErrors, anchorOfWidget)}</p>
    </nav>
  </header>
  <main>
    <h2 id="answers">Codes in answers</h2>
    ${answerErrors.map(entry => section(entry, `HTTP ${entry.status}`)).join('\n    ')}
    <h2 id="messages">Codes of messages</h2>
    <p>An SMS code from 600 to 699 comes from the operator. A request that consists of one refused message is answered
      with the code of the message, too.</p>
    ${messageErrors.map(entry => section(entry)).join('\n    ')}
    <h2 id="widget">Numbers of the widget</h2>
    <p>The widget shows the number and no reason. <code>tidings widget errors</code> lists the reason of each. 1xx: the
      visitor can do something. 2xx: the settings of the company are to be changed. 3xx: the integration into the site is.
      Besides these the widget shows ${links(alsoInWidget)} of the first list.</p>
    ${widgetErrors.map(entry => section(entry, '', anchorOfWidget(entry))).join('\n    ')}
  </main>
</body>
</html>
`

/** Other errors of the widget's own requests: a number that is not served, and the errors of all requests. */
const alsoInWidget = answerErrors.filter(({ code }) => [4000, 4290, 5000, 5030].includes(code))

const anchorOf = ({ code }: ErrorEntry) => String(code)

/** A prefix, because the code 320 is in the first list too. */
const anchorOfWidget = ({ code }: ErrorEntry) =>
  answerErrors.some(entry => entry.code === code) ? `widget-${code}` : String(code)

const links = (entries: ErrorEntry[], anchor = anchorOf) =>
  entries.map(entry => `<a href="#${anchor(entry)}">${entry.code}</a>`).join(' ')

const section = (entry: ErrorEntry, note = '', anchor = anchorOf(entry)) => `<section id="${anchor}">
      <h3><a href="#${anchor}">${entry.code}</a> ${text(entry.title)}${note ? ` <small>${note}</small>` : ''}</h3>
      <p>${text(entry.meaning)}</p>
      <dl>
        <dt>Cause</dt><dd>${text(entry.cause)}</dd>
        <dt>What to do</dt><dd>${text(entry.remedy)}</dd>
      </dl>
    </section>`

/** Text with code between backticks. */
const text = (words: string) =>
  words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
