// The script of the demo page: what a site writes around the widget, and a view of what its server and the phone get.

const main = document.querySelector('main')
const { widgetId, notBuilt, wrongNumber } = main.dataset
const channelNames = JSON.parse(main.dataset.channels)
const byId = id => document.getElementById(id)
const form = byId('number-form')
const steps = document.querySelectorAll('.steps li')
const flow = document.querySelectorAll('.flow li')

const MEMORY = 'tidings-demo'
const POLL_MS = 1000
/** The code stays on the page for as long as it may be typed. */
const MOST_POLLS = 900

/** The number and the key of this tab, and the calls of the server, so that a reload continues. */
let visit = readVisit()
let polling
let theme = 'auto'

byId('number').value = aNumber()
form.addEventListener('submit', event => {
  event.preventDefault()
  begin(byId('number').value)
})
byId('other').addEventListener('click', startOver)
byId('theme').addEventListener('click', changeTheme)
if (visit) show()

/**
 * Ends in 0001, so that simulated operators deliver at once. A number of its own has no pause from earlier visits, so
 * there must be many.
 */
function aNumber() {
  const drawn = String(Math.floor(Math.random() * 10_000)).padStart(4, '0')
  return `+7 91${drawn[0]} ${drawn.slice(1)}-00-01`
}

function begin(text) {
  const destination = text.replace(/\D/g, '')
  const isNumber = /^\d{10,15}$/.test(destination)
  byId('wrong').textContent = isNumber ? '' : wrongNumber
  byId('number').setAttribute('aria-invalid', String(!isNumber))
  if (!isNumber) return byId('number').focus()
  remember({ destination, calls: [] })
  show()
}

function show() {
  if (!window.VerifyWidget) {
    byId('wrong').textContent = notBuilt
    return
  }
  form.hidden = true
  byId('other').hidden = false
  goTo(1)
  mount()
  visit.calls.forEach(addCall)
  if (!visit.key) return
  reach(2)
  pollPhone()
}

// The lines that every site writes -----------------------------------------------------------------------------------

function mount() {
  const { destination } = visit
  const lang = document.documentElement.lang
  window.VerifyWidget.mount('#verify', { destination, widgetId, lang, theme }, sendAuthKey, onSuccess)
}

async function sendAuthKey(key) {
  remember({ ...visit, key })
  reach(1)
  const response = await callServer('send', key)
  if (response.ok) {
    reach(2)
    pollPhone()
  }
  return response
}

async function onSuccess(key) {
  reach(4)
  const response = await callServer('check', key)
  const { status, destination } = await response.json()
  if (status !== 'CONFIRMED') return
  reach(5)
  goTo(2)
  byId('confirmed').textContent = `+${destination}`
  byId('done').hidden = false
  remember(undefined)
}

// What is behind the page ----------------------------------------------------------------------------------------------

/** The server of this page runs in the process of the service; it answers with what Tidings answered to it. */
async function callServer(action, key) {
  const response = await post(action, key)
  const answer = await response.clone().text()
  const lines = [`POST /api/v1/verifier/widget/${action}`, JSON.stringify({ key }), `${response.status} ${answer}`]
  remember({ ...visit, calls: [...visit.calls, lines] })
  addCall(lines)
  return response
}

const post = (action, key) =>
  fetch(`/widget/demo/${action}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ key }),
    signal: AbortSignal.timeout(15_000),
  })

function addCall([request, body, answer]) {
  const call = element('li')
  call.append(element('code', request), element('code', body), element('code', answer, 'answer'))
  byId('calls').append(call)
}

function pollPhone() {
  clearTimeout(polling)
  let polls = 0
  const { key } = visit
  const poll = async () => {
    if (visit?.key !== key || ++polls > MOST_POLLS) return
    if (!document.hidden) await readPhone(key).catch(() => {})
    if (visit?.key === key) polling = setTimeout(poll, POLL_MS)
  }
  poll()
}

async function readPhone(key) {
  const response = await post('outbox', key)
  if (!response.ok) return
  const { items } = await response.json()
  if (visit?.key === key) items.forEach(addMessage)
}

function addMessage({ messageUuid, channelType, senderName, text }) {
  if (document.querySelector(`[data-uuid="${CSS.escape(messageUuid)}"]`)) return
  reach(3)
  const message = element('li')
  message.dataset.uuid = messageUuid
  message.append(element('b', `${channelNames[channelType] ?? channelType} · ${senderName}`), element('span', text))
  byId('phone').prepend(message)
}

function element(name, text, className) {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  if (className) made.className = className
  return made
}

// Where the visitor stands -----------------------------------------------------------------------------------------------

function goTo(step) {
  steps.forEach((item, index) => {
    item.classList.toggle('is-done', index < step || step === steps.length - 1)
    if (index === step) item.setAttribute('aria-current', 'step')
    else item.removeAttribute('aria-current')
  })
}

/** Marks the first so many steps behind the page as done. */
function reach(count) {
  flow.forEach((item, index) => {
    if (index < count) item.classList.add('is-done')
  })
}

function startOver() {
  clearTimeout(polling)
  window.VerifyWidget.unmount('#verify')
  remember(undefined)
  byId('phone').replaceChildren()
  byId('calls').replaceChildren()
  for (const item of flow) item.classList.remove('is-done')
  byId('done').hidden = true
  byId('other').hidden = true
  form.hidden = false
  goTo(0)
  byId('number').value = aNumber()
  byId('number').focus()
}

/** The widget is mounted again in the other colours, and continues where it was. */
function changeTheme() {
  const isDark = theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
  theme = isDark ? 'light' : 'dark'
  document.documentElement.dataset.theme = theme
  if (form.hidden && byId('done').hidden) mount()
}

function readVisit() {
  try {
    return JSON.parse(sessionStorage.getItem(MEMORY)) ?? undefined
  } catch {
    return undefined
  }
}

function remember(next) {
  visit = next
  try {
    if (next) sessionStorage.setItem(MEMORY, JSON.stringify(next))
    else sessionStorage.removeItem(MEMORY)
  } catch {}
}
