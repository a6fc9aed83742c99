package brokers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// The namespace of the account of a secured Pulsar.
const (
	pulsarTenant    = "bench"
	pulsarNamespace = "bench"
)

// pulsarAccount makes the account's tenant and namespace, which it may use as its grants say, unless they are there.
func pulsarAccount(ctx context.Context, control, token string, a *account) error {
	admins := []string{}
	if len(a.of("admin")) > 0 {
		admins = append(admins, a.user)
	}
	actions := []string{}
	for _, action := range []string{"produce", "consume"} {
		if len(a.of(action)) > 0 {
			actions = append(actions, action)
		}
	}
	namespace := pulsarTenant + "/" + pulsarNamespace
	for _, q := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPut, "tenants/" + pulsarTenant, map[string]any{"adminRoles": admins, "allowedClusters": []string{"standalone"}}},
		{http.MethodPut, "namespaces/" + namespace, map[string]any{}},
		{http.MethodPost, "namespaces/" + namespace + "/permissions/" + a.user, actions},
	} {
		if err := pulsarAdmin(ctx, control, token, q.method, q.path, q.body); err != nil {
			return err
		}
	}
	return nil
}

// pulsarAdmin asks the web service for a change. That what it would make is there is no error.
func pulsarAdmin(ctx context.Context, control, token, method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	said, status, err := call(ctx, method, "http://"+control+"/admin/v2/"+path, header, text)
	if err == nil && status/100 != 2 && status != http.StatusConflict {
		err = fmt.Errorf("%s %s: %d: %.200s", method, path, status, said)
	}
	return err
}
