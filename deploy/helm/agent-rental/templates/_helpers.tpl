{{- define "agent-rental.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "agent-rental.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "agent-rental.labels" -}}
{{ include "agent-rental.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "agent-rental.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "agent-rental.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "agent-rental.name" .) }}
{{- end }}

{{- define "agent-rental.secret" -}}
{{- required "existingSecret: name the Secret with DATABASE_URL, REDIS_URL, MASTER_KEY and SOLANA_RPC_URLS" .Values.existingSecret }}
{{- end }}

{{/* The most servers that there are at a time, without the one that an update adds. */}}
{{- define "agent-rental.replicas" -}}
{{- if .Values.autoscaling.enabled }}{{ .Values.autoscaling.maxReplicas }}{{ else }}{{ .Values.replicaCount }}{{ end }}
{{- end }}
