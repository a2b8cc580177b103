import { notifications } from '@mantine/notifications'
import { describeProblem } from '../../problems.ts'
import { currentWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import styles from './toast.module.css'

/** A line at the edge of the page that says what was done. */
export const tellDone = (message: string) =>
  notifications.show({ message, icon: <Icon name="ok" size={18} />, classNames: { root: styles.ok } })

/** The same for what could not be done, where no field of a form can say it. */
export const tellProblem = (error: unknown) => tellRefusal(describeProblem(currentWords(), error))

/** With words of the page's own. */
export const tellRefusal = (message: string) =>
  notifications.show({
    message,
    icon: <Icon name="fail" size={18} />,
    classNames: { root: styles.fail },
    autoClose: 10_000,
  })
