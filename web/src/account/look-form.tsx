import { SegmentedControl, useMantineColorScheme } from '@mantine/core'
import type { Language, Theme } from '../../../src/domain/people/person.ts'
import { languages } from '../languages.ts'
import { useMe } from '../session.ts'
import { chooseLanguage, languageNames, useWords } from '../words/words.ts'
import styles from './account.module.css'
import { useSavePreferences } from './preferences.ts'

const { choice = '', choiceIndicator = '', choiceLabel = '' } = styles
const classNames = { root: choice, indicator: choiceIndicator, label: choiceLabel }
const OF_BROWSER = 'browser'

/** Applies language and theme at once and stores them for the person. */
export function LookForm() {
  const { say } = useWords()
  const me = useMe()
  const save = useSavePreferences()
  const { setColorScheme } = useMantineColorScheme()

  const takeLanguage = async (value: Language | typeof OF_BROWSER) => {
    const language = value === OF_BROWSER ? null : value
    await chooseLanguage(language)
    save.mutate({ language })
  }
  const takeTheme = (theme: Theme) => {
    setColorScheme(theme)
    save.mutate({ theme })
  }

  return (
    <div className={styles.form}>
      <div>
        <p className={styles.label}>{say('account.look.language')}</p>
        <SegmentedControl<Language | typeof OF_BROWSER>
          fullWidth
          withItemsBorders={false}
          classNames={classNames}
          aria-label={say('account.look.language')}
          value={me.language ?? OF_BROWSER}
          onChange={takeLanguage}
          data={[
            { value: OF_BROWSER, label: say('account.look.ofBrowser') },
            ...languages.map(language => ({ value: language, label: languageNames[language] })),
          ]}
        />
      </div>
      <div>
        <p className={styles.label}>{say('theme.label')}</p>
        <SegmentedControl<Theme>
          fullWidth
          withItemsBorders={false}
          classNames={classNames}
          aria-label={say('theme.label')}
          value={me.theme}
          onChange={takeTheme}
          data={(['auto', 'light', 'dark'] as const).map(theme => ({ value: theme, label: say(`theme.${theme}`) }))}
        />
      </div>
    </div>
  )
}
