import { NativeSelect, Switch, Textarea, TextInput } from '@mantine/core'
import { captchaKinds } from '../../../../src/domain/verifiers/verifier.ts'
import { Icon } from '../../parts/content/icon.tsx'
import { Section } from '../../parts/content/section.tsx'
import { oneOf } from '../../search-values.ts'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { FormProps } from './draft.ts'

type Page = NonNullable<FormProps['draft']['page']>
type Captcha = Page['captcha']
type Props = { form: FormProps; hasSecret: boolean; savedCaptcha: Captcha | undefined }

/** The name. A widget also has its origins and its captcha. */
export function PageFields({ form, hasSecret, savedCaptcha }: Props) {
  const { say } = useWords()
  const { draft, change, wrong } = form
  const { page } = draft
  return (
    <Section title={page ? say('verification.page') : say('verification.name')}>
      <div className={styles.columns}>
        <div className={styles.stack}>
          <TextInput
            {...(page ? { label: say('verification.name') } : { 'aria-label': say('verification.name') })}
            description={say('verification.name.help')}
            value={draft.name}
            maxLength={100}
            error={wrong('name')}
            onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          />
          {page && (
            <Textarea
              label={say('verification.origins')}
              description={say('verification.origins.help')}
              value={page.origins.join('\n')}
              rows={3}
              autoCapitalize="none"
              spellCheck={false}
              error={wrong('origins')}
              onChange={({ currentTarget }) => change({ page: { ...page, origins: currentTarget.value.split('\n') } })}
            />
          )}
        </div>
        {page && <Robots form={form} page={page} isKept={hasSecret && page.captcha === savedCaptcha} />}
      </div>
    </Section>
  )
}

const BRANDS = { hcaptcha: 'hCaptcha', turnstile: 'Cloudflare Turnstile' } as const

type RobotsProps = { form: FormProps; page: Page; isKept: boolean }

function Robots({ form, page, isKept }: RobotsProps) {
  const { say } = useWords()
  const { change } = form
  const hasKeys = page.captcha !== 'altcha' && page.captcha !== 'none'
  const choose = (captcha: Captcha = page.captcha) =>
    change({ page: { ...page, captcha, captchaSiteKey: null }, captchaSecret: '' })
  return (
    <div className={styles.stack}>
      <NativeSelect
        label={say('verification.captcha')}
        value={page.captcha}
        onChange={({ currentTarget }) => choose(oneOf(captchaKinds, currentTarget.value))}
        data={captchaKinds.map(kind => ({
          value: kind,
          label: kind === 'hcaptcha' || kind === 'turnstile' ? BRANDS[kind] : say(`verification.captcha.${kind}`),
        }))}
      />
      {hasKeys && <CaptchaKeys form={form} page={page} isKept={isKept} />}
      <Switch
        label={say('verification.builder')}
        description={say('verification.builder.help')}
        checked={page.isBuilder}
        onChange={({ currentTarget }) => change({ page: { ...page, isBuilder: currentTarget.checked } })}
      />
      {page.isBuilder && page.captcha === 'none' && (
        <p className={styles.warning}>
          <Icon name="warn" />
          {say('verification.builder.open')}
        </p>
      )}
    </div>
  )
}

function CaptchaKeys({ form: { draft, change, wrong }, page, isKept }: RobotsProps) {
  const { say } = useWords()
  return (
    <>
      <TextInput
        label={say('verification.captcha.siteKey')}
        value={page.captchaSiteKey ?? ''}
        maxLength={500}
        autoComplete="off"
        spellCheck={false}
        error={wrong('captcha-site-key')}
        onChange={({ currentTarget }) =>
          change({ page: { ...page, captchaSiteKey: currentTarget.value.trim() || null } })
        }
      />
      <TextInput
        label={say('verification.captcha.secret')}
        description={say('verification.captcha.secret.help')}
        placeholder={isKept ? say('verification.captcha.secret.kept') : ''}
        value={draft.captchaSecret}
        maxLength={1000}
        type="password"
        autoComplete="new-password"
        error={wrong('captcha-secret')}
        onChange={({ currentTarget }) => change({ captchaSecret: currentTarget.value })}
      />
    </>
  )
}
