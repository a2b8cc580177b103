import type { ProviderKind } from '../http/widget/captcha/providers.ts'
import type { FakeAnswer } from './providers/fake-server.ts'

/**
 * For the tests: the script of a provider. It offers the provider's own calls for explicit rendering and draws a
 * checkbox of the same size, which gives a token when it is pressed. As with the providers, `render` returns at once
 * and calls `error-callback` when the site key is wrong or the page's host is none of the site's.
 */
export function scriptOf(kind: ProviderKind): FakeAnswer {
  const { name, sizes, errors } = scripts[kind]
  const given = JSON.stringify({ kind, name, sizes, errors })
  return {
    status: 200,
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cross-origin-resource-policy': 'cross-origin' },
    body: `(${CODE})(${given})`,
  }
}

/** The global object of each script, the size of its captcha in pixels, and the codes for `error-callback`. */
const scripts = {
  recaptcha: {
    name: 'grecaptcha',
    sizes: { normal: [304, 78], compact: [164, 144], invisible: [0, 0] },
    errors: {},
  },
  hcaptcha: {
    name: 'hcaptcha',
    sizes: { normal: [303, 78], compact: [164, 144], invisible: [0, 0] },
    errors: { 'site key': 'invalid-data', domain: 'invalid-data', 'not passed': 'challenge-error' },
  },
  turnstile: {
    name: 'turnstile',
    sizes: { normal: [300, 65], compact: [150, 140], flexible: [300, 65] },
    errors: { 'site key': '110100', domain: '110200', 'not passed': '300030' },
  },
}

const CODE = `function ({ kind, name, sizes, errors }) {
  const script = new URL(document.currentScript.src)
  const widgets = new Map()

  const api = {
    ready: callback => callback(),
    render(place, params) {
      const container = typeof place === 'string' ? elementNamed(place) : place
      if (!container) throw new Error(name + ': the container does not exist')
      if (container.childNodes.length > 0) throw new Error(name + ': the container must be empty')
      const size = params.size ?? 'normal'
      if (kind === 'turnstile' && !sizes[size]) throw new Error('turnstile: invalid size ' + size)
      const id = kind === 'recaptcha' ? widgets.size : kind + '-' + widgets.size
      const widget = { params, container, token: '', timer: undefined, box: undefined }
      widgets.set(id, widget)
      ask('site', widget).then(({ error }) => (error ? fail(widget, error) : draw(widget, size)))
      return id
    },
    reset(id) {
      const widget = widgetOf(id)
      clearTimeout(widget.timer)
      widget.token = ''
      if (widget.box) widget.box.checked = widget.box.disabled = false
    },
    getResponse: id => widgetOf(id).token,
    execute(id, options) {
      const isSiteKey = kind === 'recaptcha' && typeof id === 'string'
      const widget = isSiteKey ? { params: { sitekey: id, ...options } } : widgetOf(id)
      return solve(widget)
    },
  }
  if (kind !== 'recaptcha') {
    api.remove = id => {
      const { container, timer } = widgetOf(id)
      clearTimeout(timer)
      container.replaceChildren()
      widgets.delete(id)
    }
  }
  window[name] = api
  const onload = script.searchParams.get('onload')
  if (onload) window[onload]()

  function elementNamed(text) {
    return kind === 'turnstile' ? document.querySelector(text) : document.getElementById(text)
  }

  function widgetOf(id = widgets.keys().next().value) {
    if (!widgets.has(id)) throw new Error(name + ': no captcha ' + id)
    return widgets.get(id)
  }

  function draw(widget, size) {
    const [width, height] = sizes[size] ?? sizes.normal
    if (width === 0 || !widget.container.isConnected) return
    const isDark = widget.params.theme === 'dark'
    const label = document.createElement('label')
    label.dataset.captcha = kind
    label.style.cssText =
      'display:flex;align-items:center;gap:12px;box-sizing:border-box;padding:8px;border:1px solid #767676;' +
      'font:14px sans-serif;height:' + height + 'px;' +
      (size === 'flexible' ? 'width:100%;min-width:300px;' : 'width:' + width + 'px;') +
      (isDark ? 'background:#222;color:#fff' : 'background:#fafafa;color:#222')
    widget.box = document.createElement('input')
    widget.box.type = 'checkbox'
    widget.box.addEventListener('change', () => {
      widget.box.disabled = true
      solve(widget)
    })
    label.append(widget.box, 'I am human')
    widget.container.replaceChildren(label)
  }

  async function solve(widget) {
    const { token, lifetimeMs, error } = await ask('token', widget)
    if (error) return fail(widget, error)
    widget.token = token
    widget.timer = setTimeout(() => expire(widget), lifetimeMs)
    call(widget, 'callback', token)
    return token
  }

  function expire(widget) {
    widget.token = ''
    if (widget.box) widget.box.checked = widget.box.disabled = false
    call(widget, 'expired-callback')
  }

  function fail(widget, error) {
    call(widget, 'error-callback', errors[error])
  }

  function call(widget, event, ...values) {
    const given = widget.params[event]
    const callback = typeof given === 'string' ? window[given] : given
    callback?.(...values)
  }

  async function ask(what, { params }) {
    const body = JSON.stringify({ kind, siteKey: params.sitekey, hostname: location.hostname })
    const response = await fetch(script.origin + '/visitor/' + what, { method: 'POST', body })
    return response.json()
  }
}`
