import { NumberInput, TextInput } from '@mantine/core'
import { useFormats } from '../../format.ts'
import { Section } from '../../parts/content/section.tsx'
import { useWords } from '../../words/words.ts'
import styles from '../verification.module.css'
import type { Offer, VerifierDetails } from '../verification.ts'
import { Snippet } from '../widget/snippet.tsx'
import { WidgetErrors } from '../widget/widget-errors.tsx'
import { WidgetLook } from '../widget/widget-look.tsx'
import { ChannelsField } from './channels-field.tsx'
import { CountriesField } from './countries-field.tsx'
import type { FormProps } from './draft.ts'
import { PageFields } from './page-fields.tsx'
import { TextsField } from './texts-field.tsx'

type Props = { form: FormProps; offer: Offer; saved: VerifierDetails | undefined; mayChange: boolean }

/** All settings, the most used first. A widget begins with its look and the code for the page. */
export function SettingsForm({ form, offer, saved, mayChange }: Props) {
  const isWidget = form.draft.page !== null
  return (
    <>
      {form.draft.page && (
        <fieldset className={styles.fields} disabled={!mayChange}>
          <WidgetLook form={form} page={form.draft.page} />
        </fieldset>
      )}
      {saved?.snippets && <Snippet snippets={saved.snippets} isBuilder={saved.page?.isBuilder === true} />}
      <fieldset className={styles.fields} disabled={!mayChange}>
        <PageFields form={form} hasSecret={saved?.hasCaptchaSecret ?? false} savedCaptcha={saved?.page?.captcha} />
        <ChannelsField form={form} offer={offer} />
        <CodeFields form={form} />
        <TextsField form={form} offer={offer} />
        <CountriesField form={form} codes={offer.countries} />
        <PhoneFields form={form} />
        <LimitFields form={form} />
      </fieldset>
      {isWidget && saved && <WidgetErrors id={saved.id} />}
    </>
  )
}

function CodeFields({ form: { draft, setting, wrong } }: { form: FormProps }) {
  const { say } = useWords()
  const { settings } = draft
  return (
    <Section title={say('verification.codeSection')}>
      <div className={styles.numbers}>
        <NumberInput
          label={say('verification.length')}
          value={settings.codeLength}
          min={0}
          error={wrong('length')}
          onChange={value => setting({ codeLength: Number(value) })}
        />
        <NumberInput
          label={say('verification.lifetime')}
          value={settings.lifetimeSeconds}
          min={0}
          step={30}
          error={wrong('lifetime')}
          onChange={value => setting({ lifetimeSeconds: Number(value) })}
        />
        <NumberInput
          label={say('verification.triesField')}
          value={settings.tries}
          min={0}
          error={wrong('tries')}
          onChange={value => setting({ tries: Number(value) })}
        />
        <NumberInput
          label={say('verification.pause')}
          description={say('verification.pause.help')}
          value={settings.pauseSeconds}
          min={0}
          step={10}
          error={wrong('pause')}
          onChange={value => setting({ pauseSeconds: Number(value) })}
        />
      </div>
    </Section>
  )
}

function PhoneFields({ form: { draft, setting, wrong } }: { form: FormProps }) {
  const { say } = useWords()
  const { settings } = draft
  return (
    <Section title={say('verification.phones')}>
      <div className={styles.three}>
        <TextInput
          label={say('verification.webOtp')}
          description={say('verification.webOtp.help')}
          value={settings.webOtpHost ?? ''}
          maxLength={253}
          autoCapitalize="none"
          spellCheck={false}
          error={wrong('web-otp')}
          onChange={({ currentTarget }) => setting({ webOtpHost: currentTarget.value.trim() || null })}
        />
        <TextInput
          label={say('verification.androidHash')}
          description={say('verification.androidHash.help')}
          value={settings.androidHash ?? ''}
          maxLength={20}
          autoCapitalize="none"
          spellCheck={false}
          error={wrong('android-hash')}
          onChange={({ currentTarget }) => setting({ androidHash: currentTarget.value.trim() || null })}
        />
        <TextInput
          label={say('verification.callbackUrl')}
          description={say('verification.callbackUrl.help')}
          value={settings.callbackUrl ?? ''}
          maxLength={2000}
          type="url"
          autoCapitalize="none"
          spellCheck={false}
          error={wrong('callback-url')}
          onChange={({ currentTarget }) => setting({ callbackUrl: currentTarget.value.trim() || null })}
        />
      </div>
    </Section>
  )
}

const limits = [
  ['perNumber', 'per-number', 'verification.perNumber'],
  ['perAddress', 'per-address', 'verification.perAddress'],
  ['perPrefix', 'per-prefix', 'verification.perPrefix'],
  ['perVerifier', 'per-verifier', 'verification.perVerifier'],
  ['perCompany', 'per-company', 'verification.perCompany'],
] as const

function LimitFields({ form: { draft, setting, wrong } }: { form: FormProps }) {
  const { say } = useWords()
  const { separators } = useFormats()
  const { limits: now } = draft.settings
  const change = (changed: Partial<typeof now>) => setting({ limits: { ...now, ...changed } })
  return (
    <Section title={say('verification.limits')} note={say('verification.limits.note')}>
      <div className={styles.numbers}>
        {limits.map(([name, setting, label]) => (
          <NumberInput
            key={name}
            label={say(label)}
            value={now[name]}
            min={0}
            {...separators}
            error={wrong(setting)}
            onChange={value => change({ [name]: Number(value) })}
          />
        ))}
        <NumberInput
          label={say('verification.leastConfirmed')}
          description={say('verification.leastConfirmed.help')}
          value={Math.round(now.leastConfirmed * 1000) / 10}
          min={0}
          error={wrong('least-confirmed')}
          onChange={value => change({ leastConfirmed: Number(value) / 100 })}
        />
      </div>
    </Section>
  )
}
