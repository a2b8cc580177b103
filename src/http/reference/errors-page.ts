import { answerErrors, type ErrorEntry, messageErrors } from './errors.ts'
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
      first list, and <code>msg</code> says in a sentence what was wrong. A message that failed carries a code of the
      second list as <code>errorCode</code>, in callbacks as <code>error_code</code>.</p>
    <nav aria-label="Codes">
      <p><a href="#answers">In answers</a> ${links(answerErrors)}</p>
      <p><a href="#messages">Of messages</a> ${links(messageErrors)}</p>
    </nav>
  </header>
  <main>
    <h2 id="answers">Codes in answers</h2>
    ${answerErrors.map(entry => section(entry, `HTTP ${entry.status}`)).join('\n    ')}
    <h2 id="messages">Codes of messages</h2>
    <p>An SMS code from 600 to 699 comes from the operator. A request that consists of one refused message is answered
      with the code of the message, too.</p>
    ${messageErrors.map(entry => section(entry)).join('\n    ')}
  </main>
</body>
</html>
`

const links = (entries: ErrorEntry[]) => entries.map(({ code }) => `<a href="#${code}">${code}</a>`).join(' ')

const section = ({ code, title, meaning, cause, remedy }: ErrorEntry, note = '') => `<section id="${code}">
      <h3><a href="#${code}">${code}</a> ${text(title)}${note ? ` <small>${note}</small>` : ''}</h3>
      <p>${text(meaning)}</p>
      <dl>
        <dt>Cause</dt><dd>${text(cause)}</dd>
        <dt>What to do</dt><dd>${text(remedy)}</dd>
      </dl>
    </section>`

/** Plain words with code between backticks. */
const text = (words: string) =>
  words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
