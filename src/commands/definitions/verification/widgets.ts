import { captchaKinds } from '../../../domain/verifiers/verifier.ts'
import type { Command } from '../../command.ts'
import { codeOptions } from './verifiers.ts'

const widgets = () => import('../../verification/widgets.ts')
const errors = () => import('../../verification/widget-errors.ts')

const company = { value: 'N', about: 'The company: `tidings company list` shows them', required: true }
const widget = { value: 'ID', about: 'The widget: `tidings widget list` shows them', required: true }

const pageOptions: Command['options'] = {
  origins: {
    value: 'LIST',
    about: 'Sites that may show the widget, such as https://shop.example,https://www.shop.example',
  },
  captcha: {
    value: 'KIND',
    about: `The captcha: ${captchaKinds.join(', ')}; altcha, our own, at first`,
  },
  'captcha-site-key': { value: 'KEY', about: 'The key of the site at the provider of the captcha' },
  'captcha-secret': {
    value: 'SECRET',
    about: 'The secret of the provider for checking answers: @FILE reads it from a file, - from standard input',
  },
  builder: {
    value: 'SWITCH',
    about: 'on: for pages of a site builder, which have no server; the widget itself asks for the code. off at first',
  },
}

export const widgetCommands: Command[] = [
  {
    name: 'widget create',
    about:
      'Makes a widget, in which visitors of a site confirm their number, and prints its widgetId and the HTML for the page. It needs --origins. Without --channels it sends by SMS.',
    options: { company, ...pageOptions, ...codeOptions },
    run: async call => (await widgets()).createOne(call),
  },
  {
    name: 'widget list',
    about: 'Lists the widgets.',
    options: { company: { value: 'N', about: 'Only of one company' } },
    run: async call => (await widgets()).listSome(call),
  },
  {
    name: 'widget show',
    about: 'Shows the settings of a widget; of the secret of its captcha, whether it is set.',
    options: { widget },
    run: async call => (await widgets()).showOne(call),
  },
  {
    name: 'widget set',
    about:
      'Changes a widget, beginning with its next visitor. Settings that are not given stay. Another --captcha needs its own site key and secret; altcha and none remove both.',
    options: { widget, ...pageOptions, ...codeOptions },
    run: async call => (await widgets()).changeOne(call),
  },
  {
    name: 'widget delete',
    about: 'Deletes a widget: pages that show it get error 310. Its errors and statistics stay.',
    options: { widget },
    run: async call => (await widgets()).deleteOne(call),
  },
  {
    name: 'widget errors',
    about: 'Lists why widgets of a company showed errors within the last 30 days, the newest first.',
    options: {
      company,
      widget: { value: 'ID', about: 'Only of one widget' },
      code: { value: 'N', about: 'Only errors with this number, such as 310' },
      limit: { value: 'N', about: 'How many to list', default: '50' },
    },
    run: async call => (await errors()).listSome(call),
  },
  {
    name: 'widget stats',
    about:
      'Shows how many codes of a widget were sent, delivered and confirmed, how fast and at which cost, by day (UTC), channel and country.',
    options: {
      widget,
      from: { value: 'DAY', about: 'The first day, such as 2026-05-01; six days ago unless given' },
      to: { value: 'DAY', about: 'The last day; today unless given' },
    },
    run: async call => (await widgets()).showStatistics(call),
  },
]
