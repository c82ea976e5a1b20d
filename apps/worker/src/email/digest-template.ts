import { type MailTemplate, parseMailTemplate } from "@millrace/mail-templates";

/** The digest of who has no template of their own. */
export const plainDigest: MailTemplate = parseMailTemplate({
  subject: "{{ count }} {% if count == 1 %}thing{% else %}things{% endif %} since your last digest",
  html: `<ul>
{% for item in items %}<li>{% if item.topic %}<b>{{ item.topic }}</b> {% endif %}{% if item.link %}<a href="{{ item.link }}">{{ item.text }}</a>{% else %}{{ item.text }}{% endif %}</li>
{% endfor %}</ul>`,
  text: `{% for item in items %}- {% if item.topic %}{{ item.topic }}: {% endif %}{{ item.text }}{% if item.link %}
  {{ item.link }}{% endif %}
{% endfor %}`,
});
