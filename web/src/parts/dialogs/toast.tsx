import { notifications } from '@mantine/notifications'
import { describeProblem } from '../../problems.ts'
import { currentWords } from '../../words/words.ts'
import { Icon } from '../content/icon.tsx'
import styles from './toast.module.css'

/** Shows a short message at the edge of the page after a successful change. */
export const tellDone = (message: string) =>
  notifications.show({ message, icon: <Icon name="ok" size={18} />, classNames: { root: styles.ok } })

/** Shows why a change failed, if no field of a form can show it. */
export const tellProblem = (error: unknown) => tellRefusal(describeProblem(currentWords(), error))

/** Shows a failure in the page's own words. */
export const tellRefusal = (message: string) =>
  notifications.show({
    message,
    icon: <Icon name="fail" size={18} />,
    classNames: { root: styles.fail },
    autoClose: 10_000,
  })
